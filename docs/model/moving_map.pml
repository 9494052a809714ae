/* A lock whose home moves from one ensemble to another, while clients hold it and wait for it.
 *
 * A map says which ensemble is a path's home. Each ensemble has a copy of it, with a version: 3 g is generation g,
 * stable; 3 g + 1 moving, from the home of generation g to that of g + 1; 3 g + 2 the same, turned: tokens follow the
 * new home from here on. A session is a member of its ensemble, by a node that says which version its client has
 * announced there. A publisher writes v + 1 into the copies when all copies are at v and all members have announced v.
 *
 * The lock of one ensemble is taken for granted here: free, or somebody's; z numbers its grants, as the czxids of the
 * nodes do. What is released, lost, or given up is gone at once, and so is a lost member: later is only slower.
 * lease_clock.pml says why a client notices first that its session is over. */

#if defined(CONFIG_MOVE)              /* three clients, one move */
#define CLIENTS     3
#define ACQUIRES(c) 1
#define LAST        3
#elif defined(CONFIG_THERE_AND_BACK)  /* from A to B, and to A again */
#define ACQUIRES(c) (c == 1 -> 2 : 1)
#define LOSSES      1
#elif defined(CONFIG_ONWARD)          /* from A to B to C */
#define ACQUIRES(c) 1
#define THIRD       2
#define LOSSES      1
#elif defined(CONFIG_PUBLISHERS)      /* two publishers, one of which may crash */
#define PUBLISHERS  2
#define ACQUIRES(c) 1
#define LAST        3
#define CRASHES     1
#elif defined(CONFIG_HELD_UP)         /* to B, and half of the way back: a move that does not end */
#define ACQUIRES(c) (c == 1 -> 2 : 1)
#define LAST        4
#define LOSSES      1
#elif defined(CONFIG_STOPPED_HOLDER)  /* a process is stopped past the end of its sessions, goes on, and writes */
#define ACQUIRES(c) (c == 1 -> 2 : 1)
#define LAST        3
#define STOPS       1
#elif defined(CONFIG_LONG_HOLD)       /* a holder that never releases, for instance a leader */
#define ACQUIRES(c) 1
#define KEEPER      1
#define LOSSES      1
#else
#error "name a configuration: -DCONFIG_MOVE, ..."
#endif

#ifndef CLIENTS
#define CLIENTS     2
#endif
#ifndef PUBLISHERS
#define PUBLISHERS  1
#endif
#ifndef LAST
#define LAST        6               /* the last version */
#endif
#ifndef THIRD
#define THIRD       0               /* the home of generation 2 */
#endif
#ifndef LOSSES
#define LOSSES      0
#endif
#ifndef STOPS
#define STOPS       0
#endif
#ifndef CRASHES
#define CRASHES     0
#endif
#ifndef KEEPER
#define KEEPER      0               /* the client that never releases */
#endif
#if THIRD == 2
#define HOMES       3
#else
#define HOMES       2
#endif

/* ---- the guards ---- */

#ifndef WITHOUT_BOTH_HOMES
#define takes_both true
#else
#define takes_both false            /* while the lock moves, it is taken at the new home only */
#endif
#ifndef WITHOUT_NEWEST_VERSION
#define goes_by_the_newest true
#else
#define goes_by_the_newest false    /* an acquire takes the homes of the version that it began with */
#endif
#ifndef WITHOUT_ALL_ANNOUNCED
#define waits_for_members true
#else
#define waits_for_members false
#endif
#ifndef WITHOUT_HELD_BY_BOTH
#define announces_what_it_holds true
#else
#define announces_what_it_holds false   /* moving is announced while the lock is held at the old home alone */
#endif
#ifndef WITHOUT_READ_FIRST
#define reads_before_it_lists true
#else
#define reads_before_it_lists false
#endif
#ifndef WITHOUT_EVERY_COPY
#define waits_for_copies true
#else
#define waits_for_copies false          /* the publisher goes by one copy */
#endif
#ifndef WITHOUT_CHECKED_PUBLISH
#define publishes_once true
#else
#define publishes_once false            /* a copy is written without a look at its version */
#endif
#ifndef WITHOUT_ONE_SESSION
#define member_by_the_same_session true
#else
#define member_by_the_same_session false    /* the member's node has a session of its own, whose loss costs no lock */
#endif
#ifndef WITHOUT_NOTICED_FIRST
#define notices_before_the_servers true
#else
#define notices_before_the_servers false
#endif
#ifndef WITHOUT_FROM_THE_FIRST
#define begins_at_the_old_home true
#else
#define begins_at_the_old_home false    /* an acquire that has lost the old home keeps the new one, and takes the old one again */
#endif
#ifndef WITHOUT_DROPPED_HOME
#define drops_the_old true
#else
#define drops_the_old false /* an acquire keeps the old home when the move is over */
#endif
#ifndef WITHOUT_ADDED_HOME
#define adds_to_a_hold true
#else
#define adds_to_a_hold false            /* a holder does not take the new home, but keeps the move waiting */
#endif
#ifndef WITHOUT_GENERATION
#define token(g, number) ((g) * 16 + (number))
#else
#define token(g, number) (number)
#endif
#ifndef WITHOUT_TURN
#define turns true
#else
#define turns false                     /* while the lock moves, tokens are the old home's */
#endif
#ifndef WITHOUT_TURN_LATE
#define turns_when_all_are_moving true
#else
#define turns_when_all_are_moving false /* while some are in the stable state still */
#endif
#ifndef WITHOUT_TURN_FIRST
#define turns_everywhere_first true
#else
#define turns_everywhere_first false    /* the next stable state is published where some copies are not turned */
#endif
#ifndef WITHOUT_TURN_WITH_LOCK
#define looks_with_the_lock true
#else
#define looks_with_the_lock false       /* the new home's copy is read before the lock is held there */
#endif

#include "promises.pml"

#define BIT(n)        (1 << (n))
#define generation(v) ((v) / 3)
#define home(g)       ((g) == 2 -> THIRD : (g))
#define is_moving(v)  ((v) % 3 != 0)
#define old_home(v)   home(generation(v))
#define new_home(v)   (is_moving(v) -> home(generation(v) + 1) : home(generation(v)))
#define homes(v)      ((takes_both -> BIT(old_home(v)) : 0) | BIT(new_home(v)))

/* ---- the servers of each ensemble ---- */

byte copy[HOMES];                   /* of the map: its version */
byte owner[HOMES];                  /* of the lock: a client, or 0 */
byte z[HOMES];                      /* how often it was granted */

/* ---- the clients ---- */

mtype = { ACQUIRES, LOOKED, HOLDS, STOPPED, DONE };
mtype phase[CLIENTS + 1] = ACQUIRES;
byte joined[CLIENTS + 1];           /* the ensembles where a client is a member, */
byte announced[CLIENTS + 1];        /* the lowest version that it has announced there, */
byte known[CLIENTS + 1];            /* and the newest that it has seen */
byte losses = LOSSES, stops = STOPS, crashes = CRASHES;
byte last_token;
#if STOPS
byte grants, written, written_by;   /* the resource: the greatest token, and the grant, that it has seen */
#endif

#define is_mine(x)    (owner[x] == me)
#define has_joined(x) (joined[me] & BIT(x))
#define needs(x)      (homes(version) & BIT(x))
#define version       (goes_by_the_newest || phase[me] != ACQUIRES || !owns_some -> known[me] : began)
#define next_home     (takes_both && !is_mine(old_home(version)) -> old_home(version) : new_home(version))
#if HOMES == 3
#define is_complete   (!(needs(0) && !is_mine(0)) && !(needs(1) && !is_mine(1)) && !(needs(2) && !is_mine(2)))
#define owns_some     (is_mine(0) || is_mine(1) || is_mine(2))
#else
#define is_complete   (!(needs(0) && !is_mine(0)) && !(needs(1) && !is_mine(1)))
#define owns_some     (is_mine(0) || is_mine(1))
#endif

inline free_at(x) { if :: is_mine(x) -> owner[x] = 0 :: else fi }
inline leave_all() {
  free_at(0); free_at(1);
#if HOMES == 3
  free_at(2)
#endif
}

/* That the copies are turned need not be announced: members take both homes already. */
#define need_announce(v) ((v) % 3 != (turns_when_all_are_moving -> 2 : 1))

/* A hold that began before the move takes the new home, too. */
#define adds(x) \
  (adds_to_a_hold && phase[me] == HOLDS && is_moving(known[me]) && new_home(known[me]) == x && !is_mine(x))
#define wants(x)      ((phase[me] == ACQUIRES && !is_complete && next_home == x) || adds(x))
#define keeps_the_old (announces_what_it_holds && phase[me] == HOLDS && !is_mine(new_home(known[me])))

/* What a newer version does not need is left. An acquire looks anew what it has to take. */
inline drop(x) { if :: drops_the_old && is_mine(x) && !(homes(known[me]) & BIT(x)) -> owner[x] = 0 :: else fi }
inline learn(v) {
  if
  :: v > known[me] ->
       known[me] = v;
       drop(0); drop(1);
#if HOMES == 3
       drop(2);
#endif
       if :: phase[me] == LOOKED -> phase[me] = ACQUIRES; own_token = 0 :: else fi
  :: else
  fi
}
inline join(x) {
  learn(copy[x]);
  announced[me] = (joined[me] == 0 -> known[me] : announced[me]);
  joined[me] = joined[me] | BIT(x)
}

/* With the new home an acquire reads that home's copy. */
inline look() { is_turned = turns && copy[new_home(version)] >= 3 * generation(version) + 2 }
inline take_token() {
  if
  :: is_moving(version) && is_turned -> own_token = token(generation(version) + 1, z[new_home(version)])
  :: else -> own_token = token(generation(version), z[(takes_both -> old_home(version) : new_home(version))])
  fi;
  is_turned = false
}

#define is_held(c)    (phase[c] == HOLDS)
#define others_hold   ((me != 1 && is_held(1)) || (me != 2 && is_held(2)) || (me != CLIENTS && is_held(CLIENTS)))

inline hold() {
  promise(one_holder, !others_hold);
  promise(tokens_grow, own_token > last_token);
  last_token = own_token;
#if STOPS
  grants++; own_grant = grants;
#else
  own_token = 0;
#endif
  began = 0;
  phase[me] = HOLDS
}
inline begin_again() { leave_all(); own_token = 0; phase[me] = ACQUIRES }
inline end() {
  leave_all(); own_token = 0; own_grant = 0;
  if :: turns_left > 0 -> turns_left--; phase[me] = ACQUIRES :: else -> phase[me] = DONE fi
}

#if STOPS
/* A resource accepts what is not below the greatest token that it has seen. */
inline write() {
  if
  :: own_token >= written ->
       promise(no_stale_write, own_grant >= written_by);
       written = own_token; written_by = own_grant
  :: else -> promise(no_good_write_is_refused, phase[me] == STOPPED)
  fi
}
#endif

/* A session is over: so is what stands on it, and what the client has elsewhere for the same acquire or hold. */
inline lose(x) {
  joined[me] = joined[me] & ~BIT(x);
  if
  :: !is_mine(x)
  :: is_mine(x) && phase[me] == HOLDS ->
       if
       :: !member_by_the_same_session
       :: member_by_the_same_session && needs(x) -> end()
       :: member_by_the_same_session && !needs(x) -> owner[x] = 0
       fi
  :: is_mine(x) && phase[me] != HOLDS && begins_at_the_old_home -> begin_again()
  :: is_mine(x) && phase[me] != HOLDS && !begins_at_the_old_home -> owner[x] = 0; own_token = 0; phase[me] = ACQUIRES
  fi
}

#ifndef WITHOUT_CHECKED_JOIN
/* It reads the copy, and becomes a member in a transaction that checks that the copy is the same. */
#define JOINS(x) \
  :: d_step { wants(x) && !has_joined(x) -> join(x) }
#else
#define JOINS(x) \
  :: d_step { wants(x) && !has_joined(x) && asked == 0 -> asked = x + 1; learn(copy[x]) } \
  :: d_step { asked == x + 1 -> asked = 0; \
       announced[me] = (joined[me] == 0 -> known[me] : announced[me]); joined[me] = joined[me] | BIT(x) }
#endif
#ifndef WITHOUT_NOTICED_FIRST
#define ENDS(x)
#else
#define ENDS(x) \
  :: d_step { losses > 0 && has_joined(x) -> losses--; joined[me] = joined[me] & ~BIT(x); free_at(x) }
#endif
#define EACH_HOME(x) \
  JOINS(x) \
  :: d_step { has_joined(x) && copy[x] > known[me] -> learn(copy[x]) } \
  :: d_step { wants(x) && has_joined(x) && owner[x] == 0 -> \
       if :: !goes_by_the_newest && !owns_some -> began = known[me] :: else fi; \
       if :: !looks_with_the_lock && phase[me] == ACQUIRES && x == old_home(version) && is_moving(version) -> look() :: else fi; \
       owner[x] = me; z[x]++ } \
  :: d_step { losses > 0 && has_joined(x) -> losses--; lose(x) } \
  ENDS(x)

proctype Client(byte me) {
  byte turns_left = ACQUIRES(me) - 1;
  byte began;                       /* the version that an acquire began with: only where a guard is missing */
  byte asked;                       /* the ensemble that it joins: the same */
  bool is_turned;
  byte own_token, own_grant;
end_client:
  do
  EACH_HOME(0)
  EACH_HOME(1)
#if HOMES == 3
  EACH_HOME(2)
#endif
  :: d_step { joined[me] != 0 && announced[me] < known[me] && need_announce(known[me]) && !keeps_the_old ->
       announced[me] = known[me] }
  :: d_step { phase[me] == ACQUIRES && is_complete ->
       if :: looks_with_the_lock && is_moving(version) -> look() :: else fi;
       take_token();
       phase[me] = LOOKED }
  :: d_step { phase[me] == LOOKED -> hold() }
  :: d_step { phase[me] == HOLDS && me != KEEPER -> end() }
#if STOPS
  :: d_step { phase[me] == HOLDS && written != own_token -> write() }
  /* It is stopped, and notified of nothing. */
  :: d_step { phase[me] == HOLDS && stops > 0 -> stops--; leave_all(); joined[me] = 0; phase[me] = STOPPED }
  :: d_step { phase[me] == STOPPED -> write(); end() }
#endif
  od
}

/* ---- a publisher ---- */

#define pair          (copy[0] < copy[1] -> copy[0] : copy[1])
#if HOMES == 3
#define lowest_copy   (copy[2] < pair -> copy[2] : pair)
#else
#define lowest_copy   pair
#endif
#define is_behind(c)  (joined[c] != 0 && announced[c] < (v % 3 == 2 -> v - 1 : v))
#define all_announced (!is_behind(1) && !is_behind(2) && !is_behind(CLIENTS))

#define needs_members (waits_for_members && need_announce(v))
#define next_version  (v % 3 == 1 && !turns_everywhere_first -> v + 2 : v + 1)
#define may_write     (v < LAST && (copy[x] == v || !publishes_once || (!waits_for_copies && copy[x] < v)))

inline note(c) { if :: joined[c] != 0 && announced[c] < least -> least = announced[c] :: else fi }

proctype Publisher() {
  byte v, x, least;
begin:
end_publisher:
  do
  :: d_step { reads_before_it_lists && lowest_copy < LAST ->
       v = (waits_for_copies || copy[HOMES - 1] == LAST -> lowest_copy : copy[HOMES - 1]) } -> break
  :: d_step { !reads_before_it_lists && lowest_copy < LAST -> least = LAST; note(1); note(2) };
     d_step { v = lowest_copy };
     if :: least >= v || !needs_members -> break :: else -> v = 0; goto begin fi
  :: atomic { crashes > 0 -> crashes--; v = 0; x = 0 }; goto over
  od;
  if
  :: d_step { !reads_before_it_lists || !needs_members || all_announced -> x = HOMES }
  :: atomic { crashes > 0 -> crashes--; v = 0; x = 0 }; goto over
  fi;
  /* Of the orders in which the copies are written this is one. */
  do
  :: d_step { x > 0 -> x--; if :: may_write -> copy[x] = next_version :: else fi }
  :: d_step { x == 0 -> v = 0; least = 0 } -> goto begin
  :: atomic { x > 0 && crashes > 0 -> crashes--; v = 0; x = 0 }; goto over
  od;
over:
  skip
}

active proctype Starts() {
  byte c;
  atomic { run Client(1); run Client(2);
    if :: CLIENTS == 3 -> run Client(CLIENTS) :: else fi;
    run Publisher();
    if :: PUBLISHERS == 2 -> run Publisher() :: else fi };
  timeout;
  /* Nothing moves any more. */
  promise(a_move_ends, lowest_copy == LAST);
  for (c : 1 .. CLIENTS) {
    promise(nobody_is_stuck, phase[c] == DONE || is_held(KEEPER))
  }
}
