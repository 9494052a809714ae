/* Creates that arrive late: a request that outlives its connection, and is decided when its sender has gone on.
 *
 * In the other models a request, its decision and its reply are one step, and what was lost is never applied. Here the
 * create of an acquire travels, is decided, and is answered in a step each. When its connection breaks, or its session is
 * given up, before it was decided, it may still be decided at any later time while that session lives on the servers:
 * behind its own repetition in the same session, since not every server keeps the order of a session's requests over two
 * connections; or when the next session has begun already, for the holder of another lock keeps the old one alive.
 *
 * One client acquires several times, one after the other; a remote contender wants the same lock. Each acquire has a
 * protection id, which all the nodes of its creates bear. A set of nodes is a mask.
 *
 * The cure: an acquire whose create was in doubt is remembered. The client looks for nodes that bear its id, other than
 * the one it has kept, and deletes them, until each session in which the create was in doubt can bring none into being. */

#if defined(CONFIG_REPETITION)      /* connections break; a caller gives up */
#define ACQUIRES 2
#define LOSSES   3
#define CLOCKS   0
#define CANCELS  1
#elif defined(CONFIG_OLD_SESSION)  /* a session is given up, and may live on */
#define ACQUIRES 2
#define LOSSES   1
#define CLOCKS   1
#define CANCELS  1
#else
#error "name a configuration: -DCONFIG_REPETITION, ..."
#endif

/* ---- the guards ---- */

#ifndef WITHOUT_LOOKING
#define looks true
#else
#define looks false
#endif
#ifndef WITHOUT_STILL_IN_DOUBT
#define doubts_outlast_the_reply true
#else
#define doubts_outlast_the_reply false   /* a repetition that was answered, and a listing behind it, settle all */
#endif
#ifndef WITHOUT_FORMER_SESSIONS
#define doubts_of_former_sessions true
#else
#define doubts_of_former_sessions false
#endif
#ifndef WITHOUT_GIVEN_UP
#define doubts_of_who_gave_up true
#else
#define doubts_of_who_gave_up false          /* a listing behind a write settles them */
#endif
#ifndef WITHOUT_LONG_ENOUGH
#define looks_long_enough true
#else
#define looks_long_enough false
#endif
#ifndef WITHOUT_LAST_LOOK
#define looks_once_more true
#else
#define looks_once_more false
#endif
#ifndef WITHOUT_SYNC
#define syncs_before_it_looks true
#else
#define syncs_before_it_looks false
#endif
#ifndef WITHOUT_KEPT
#define spared(k) BIT(kept[k])
#else
#define spared(k) 0
#endif

#include "promises.pml"

#define BIT(n)       (1 << (n))
#define LOWER(n)     (BIT(n) - 1)
#define lowest(set)  (((set) & 2) -> 1 : (((set) & 4) -> 2 : (((set) & 8) -> 3 : (((set) & 16) -> 4 : \
                     (((set) & 32) -> 5 : (((set) & 64) -> 6 : (((set) & 128) -> 7 : 8)))))))

/* ---- what the servers know ---- */

short live;                     /* nodes */
byte next = 1;
short made_by[2], bears[ACQUIRES];   /* of a session; of an acquire */
bool over;                      /* the first session */

inline make(s, k) {
  promise(enough_nodes, next <= 8);
  live = live | BIT(next);
  made_by[s] = made_by[s] | BIT(next);
  bears[k] = bears[k] | BIT(next);
  next++
}
inline remove(set) { live = live & ~(set) }

/* ---- what travels ---- */

mtype = { NOWHERE, TO_SERVER, TO_CLIENT };
mtype create_is = NOWHERE;      /* the one on the client's connection */
byte created;                   /* what its reply tells */
#define LATE(s, k)  late[(s) * ACQUIRES + (k)]
byte late[2 * ACQUIRES];        /* those of connections and sessions that the client has turned its back on */

/* ---- the client ---- */

mtype = { CREATE, SENT, LIST, WAIT, HELD, FENCE, REST };
mtype phase = CREATE;
byte losses = LOSSES, clocks = CLOCKS, cancels = CANCELS;
bool connected = true, lives_on, gave_up, in_doubt;
byte session, acquire, own;

bool holds, other_holds, other_done;

/* Of each acquire: the sessions in which a create of it was in doubt (a mask of two); those whose time has passed, as the
 * client knows by its clock; and the node that it has kept. */
byte doubts[ACQUIRES], passed[ACQUIRES], kept[ACQUIRES];
bool settled[ACQUIRES];         /* its create is under way no longer */

#define stray(k)   (live & bears[k] & ~spared(k))
#define looked_for(k)  (looks && doubts[k] != 0 && settled[k] && connected)
#define can_come(k)    ((doubts[k] & ~passed[k]) != 0)

inline doubt() {
  in_doubt = true;
  doubts[acquire] = doubts[acquire] | BIT(session);
  passed[acquire] = passed[acquire] & ~BIT(session)
}

inline keep(n) {
  own = n; kept[acquire] = n; in_doubt = false; settled[acquire] = true;
  phase = WAIT
}

/* Without a node, as far as the client knows. */
inline end_acquire() {
  if :: gave_up && !doubts_of_who_gave_up -> doubts[acquire] = 0 :: else fi;
  own = 0; kept[acquire] = 0; in_doubt = false; gave_up = false; settled[acquire] = true;
  if
  :: acquire + 1 < ACQUIRES -> acquire++; phase = CREATE
  :: else -> phase = REST
  fi
}

active proctype Client() {
  do
  :: d_step { phase == CREATE && connected -> create_is = TO_SERVER; phase = SENT }

  :: d_step { create_is == TO_SERVER ->                       /* a quorum decides */
       created = next;
       make(session, acquire);
       create_is = TO_CLIENT
     }

  :: d_step { create_is == TO_CLIENT ->
       create_is = NOWHERE;
       if
       :: gave_up && !in_doubt -> remove(BIT(created)); end_acquire()
       :: gave_up && in_doubt -> phase = FENCE
       :: !gave_up && in_doubt -> phase = LIST
       :: !gave_up && !in_doubt -> keep(created)
       fi;
       created = 0
     }

  /* Behind a write on the same connection. Of several nodes of this acquire and session the lowest is kept. */
  :: d_step { phase == LIST && connected ->
       keep(lowest(live & bears[acquire] & made_by[session]));
       remove(bears[acquire] & ~BIT(own));
       if
       :: !doubts_outlast_the_reply -> doubts[acquire] = doubts[acquire] & ~BIT(session)
       :: else
       fi
     }

  :: d_step { phase == WAIT && connected && (live & BIT(own)) && (live & LOWER(own)) == 0 ->
       promise(one_holder, !other_holds);
       holds = true;
       phase = HELD
     }
  :: d_step { phase == HELD && connected -> remove(BIT(own)); holds = false; end_acquire() }
  /* Its own watch tells. */
  :: d_step { phase == WAIT && connected && !(live & BIT(own)) -> end_acquire() }

  /* The caller gives up; a write that changes nothing, and a listing behind it, show what there is. */
  :: d_step { cancels > 0 && !gave_up && phase != HELD && phase != REST && phase != FENCE ->
       cancels--;
       if
       :: phase == WAIT -> remove(BIT(own)); end_acquire()
       :: phase == CREATE && !in_doubt -> end_acquire()
       :: phase == SENT -> gave_up = true
       :: phase == CREATE && in_doubt || phase == LIST -> gave_up = true; phase = FENCE
       fi
     }
  :: d_step { phase == FENCE && connected -> remove(bears[acquire]); end_acquire() }

  :: phase == REST -> break
  od
}

/* What becomes of a create on its way when nobody waits for its reply any more. */
inline leave_create_behind() {
  if
  :: create_is == TO_SERVER -> LATE(session, acquire)++
  :: else                       /* decided: its reply is lost */
  fi;
  if :: create_is != NOWHERE -> doubt() :: else fi;
  create_is = NOWHERE; created = 0;
  phase = (phase == SENT || phase == LIST -> (gave_up -> FENCE : CREATE) : phase)
}

active proctype Fate() {
  byte k;
end:
  do
  :: d_step { losses > 0 && connected ->
       losses--; connected = false;
       leave_create_behind()
     }
  :: d_step { !connected -> connected = true }
  /* The clock has run out. The session may live on: for a holder that has not released another lock. */
  :: atomic { clocks > 0 && session == 0 && phase != HELD && phase != REST ->
       clocks--;
       if :: lives_on = true :: lives_on = false fi;
       d_step {
         leave_create_behind();
         if :: phase == WAIT -> remove(BIT(own)); own = 0; kept[acquire] = 0; phase = CREATE :: else fi;
         settled[acquire] = false;
         session = 1; connected = true;
         if
         :: !doubts_of_former_sessions ->
            for (k : 0 .. ACQUIRES - 1) { doubts[k] = doubts[k] & ~BIT(0) }
            k = 0
         :: else
         fi
       }
     }
  :: d_step { session == 1 && !over && !lives_on ->
       over = true;
       remove(made_by[0]);
       for (k : 0 .. ACQUIRES - 1) { LATE(0, k) = 0 }
       k = 0
     }
  /* Late, or never. */
  :: d_step { LATE(0, 0) > 0 -> LATE(0, 0)--; make(0, 0) }
  :: d_step { LATE(1, 0) > 0 -> LATE(1, 0)--; make(1, 0) }
  :: d_step { LATE(0, 0) > 0 -> LATE(0, 0)-- }
  :: d_step { LATE(1, 0) > 0 -> LATE(1, 0)-- }
  :: d_step { LATE(0, 1) > 0 -> LATE(0, 1)--; make(0, 1) }
  :: d_step { LATE(1, 1) > 0 -> LATE(1, 1)--; make(1, 1) }
  :: d_step { LATE(0, 1) > 0 -> LATE(0, 1)-- }
  :: d_step { LATE(1, 1) > 0 -> LATE(1, 1)-- }
  od
}

/* What the client does beside its acquires. It looks again and again; to look without finding anything is no step. */
proctype Looking(byte k) {
  short seen;
end:
  do
  :: d_step { looked_for(k) && can_come(k) && stray(k) != 0 -> remove(stray(k)) }
  /* What is late comes within a known time, or never: for the session has had another connection, or is over. */
  :: d_step { settled[k] && (doubts[k] & ~passed[k] & BIT(0)) && LATE(0, k) == 0 -> passed[k] = passed[k] | BIT(0) }
  :: d_step { settled[k] && (doubts[k] & ~passed[k] & BIT(1)) && LATE(1, k) == 0 -> passed[k] = passed[k] | BIT(1) }
  :: atomic { looked_for(k) && (!can_come(k) || !looks_long_enough) ->
       if
       :: seen = stray(k)
       :: !syncs_before_it_looks -> seen = stray(k) & LOWER(next - 1)     /* a server that lags */
       :: !looks_once_more -> seen = 0
       fi;
       d_step { remove(seen); seen = 0; doubts[k] = 0; passed[k] = 0 }
     }
  od
}

active proctype Other() {
  byte mine;
  d_step { mine = next; live = live | BIT(next); next++ };
  d_step { (live & LOWER(mine)) == 0 -> promise(one_holder, !holds); other_holds = true };
  d_step { remove(BIT(mine)); other_holds = false; other_done = true; mine = 0 }
}

#define nothing_is_late  (late[0] == 0 && late[1] == 0 && late[2] == 0 && late[3] == 0)
#define found_all        !(looked_for(0) && stray(0) != 0) && !(looked_for(1) && stray(1) != 0)

active proctype Quiescence() {
  d_step { phase == REST && connected && other_done && nothing_is_late && found_all -> promise(no_orphan, live == 0) }
}

init { atomic { run Looking(0); run Looking(1) } }
