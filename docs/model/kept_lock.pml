/* A lock that stays with its client while nobody else wants it. When its holder releases it the node stays, idle, and the
 * next caller of this client, the keeper, has the lock without a word to the servers.
 *
 * The truth is `kept`, the keeper's node, `former`, its node in a session that was given up, and `others`, the nodes of two
 * contenders of other sessions; they are numbered as they were created. The others know the truth at once, which is the
 * worst for the keeper. The keeper learns it from `log`, in order and as late as it likes: that is a server that lags, and
 * a strand that is slow, in one. Requests are applied at once: one that travels for a while is one that is sent late.
 *
 * The keeper is a strand, which reads what the servers say, and a caller on a thread of its own, which takes and returns
 * the idle node under a mutex: a step of the caller is what it does under the mutex. The strand says by a flag, `wanted`,
 * that the node must go, and needs the mutex to take it from the slot. */

#if defined(CONFIG_IDLE)                /* nothing breaks */
#elif defined(CONFIG_IDLE_BREAKS)       /* two connections break */
#define BREAKS 2
#elif defined(CONFIG_IDLE_CLOCK)        /* a connection breaks; a clock runs out, and another session begins */
#define BREAKS 1
#define CLOCKS 1
#define ACQUIRES 3
#elif defined(CONFIG_IDLE_SILENT)       /* servers swallow an event, for the session may not read the node by then */
#define SWALLOWED 1
#else
#error "name a configuration: -DCONFIG_IDLE, ..."
#endif

#ifndef BREAKS
#define BREAKS 0
#endif
#ifndef CLOCKS
#define CLOCKS 0
#endif
#ifndef SWALLOWED
#define SWALLOWED 0
#endif
#ifndef ACQUIRES
#define ACQUIRES 4                      /* of the keeper */
#endif
#ifndef ROUNDS
#define ROUNDS 1                        /* of each other contender; more by hand */
#endif

/* ---- the guards ---- */

#ifndef WITHOUT_ALONE
#define must_be_alone true
#else
#define must_be_alone false             /* a node may be kept, whatever the listing shows behind it */
#endif
#ifndef WITHOUT_CHILDREN_WATCH
#define listing_is_watched true
#else
#define listing_is_watched false
#endif
#ifndef WITHOUT_WANTED
#define looks_at_the_flag true
#else
#define looks_at_the_flag false         /* only the strand looks, when the node is idle */
#endif
#ifndef WITHOUT_FLAG_FIRST
#define sets_the_flag_first true
#else
#define sets_the_flag_first false       /* the strand sets the flag under the mutex, when it gets that */
#endif
#ifndef WITHOUT_TAKEN_FIRST
#define takes_before_it_deletes true
#else
#define takes_before_it_deletes false
#endif
#ifndef WITHOUT_CLOCK_AT_PASS
#define reads_the_clock true
#else
#define reads_the_clock false
#endif
#ifndef WITHOUT_CLOCK_LAST
#define reads_the_clock_last true
#else
#define reads_the_clock_last false      /* it reads it beside the flag, before it takes the node */
#endif
#ifndef WITHOUT_EMPTY_SLOT
#define empties_the_slot true
#else
#define empties_the_slot false          /* a new session begins, and the slot has the node of the former one */
#endif
#ifndef WITHOUT_RETIREMENT
#define idle_nodes_count false
#else
#define idle_nodes_count true           /* a session is closed when its last node is gone, idle ones included */
#endif
#ifndef WITHOUT_THIS_CONNECTION
#define believes_this_connection_only true
#else
#define believes_this_connection_only false
#endif
#ifndef WITHOUT_AGE
#define ages true
#else
#define ages false
#endif

#include "promises.pml"

/* LEAVING: to be deleted on the next connection. */
mtype = { NONE, LISTING, QUEUED, HELD, IDLE, LEAVING };

mtype state = NONE;
byte number, kept, former, others[2], last_grant;
byte own;                               /* the keeper's node, as far as the keeper knows */
bool lives_on;                          /* the former session: somebody waits for the end of its idle node */

/* What the keeper knows. */
byte view[2];
bool connected = true, clock_runs = true;
bool is_created;                        /* the reply to the create has come */
bool armed, missed;                     /* the watch; the servers have found on a new connection that it should have fired */
bool keepable, wanted, due;             /* due: to be wanted, as soon as the strand gets the mutex */
bool is_deleted;                        /* without a guard: the slot is yet to be emptied */
bool is_lost;                           /* the holder was notified */
byte passes[2];                         /* since the keeper's server reported the other one's node */

byte in_doubt;                          /* a write behind a check of the node, its reply lost: 1; the node was passed on since: 2 */

byte working, others_working;
byte breaks = BREAKS, clocks = CLOCKS, swallowed = SWALLOWED, cancels = 1;

#define OTHER_CREATED  1
#define OTHER_DELETED  2
#define KEEPER_CREATED 3
#define KEEPER_DELETED 4
chan log = [14] of { byte, byte, byte };
hidden byte what_, who_, number_, i_;

#define is_before(n, m) ((n) != 0 && (n) < (m))
#define is_first(n)     (!is_before(kept, n) && !is_before(former, n) && !is_before(others[0], n) && !is_before(others[1], n))
#define sees_another_before(n)  (is_before(view[0], n) || is_before(view[1], n))

inline forget() { what_ = 0; who_ = 0; number_ = 0; i_ = 0 }

inline grant(n) {
  promise(one_holder, working + others_working == 1);
  promise(tokens_grow, n >= last_grant);
  last_grant = n
}

/* ---- the strand ---- */

inline start_again() { state = NONE; in_doubt = 0; wanted = false; due = false; is_deleted = false; keepable = false; armed = false }

inline delete_node() {
  keepable = false; armed = false;
  if
  :: connected && kept != 0 -> kept = 0; log!KEEPER_DELETED, 0, 0; start_again()
  :: connected && kept == 0 -> start_again()
  :: else -> state = LEAVING
  fi
}

inline want() {
  if :: sets_the_flag_first -> wanted = true :: else -> due = true fi
}

inline fire() { armed = false; want() }

inline learn() {
  if
  :: what_ == OTHER_CREATED -> view[who_] = number_; passes[who_] = 0
  :: what_ == OTHER_DELETED -> view[who_] = 0; passes[who_] = 0
  :: what_ == KEEPER_CREATED -> is_created = number_ == kept
  :: else
  fi
}

active proctype Strand() {
end:
  do
  :: atomic { connected && nempty(log) ->
       log?what_, who_, number_;
       learn();
       if
       :: armed && what_ != KEEPER_CREATED -> fire()
       :: armed && what_ != KEEPER_CREATED && swallowed > 0 -> swallowed--; armed = false
       :: else
       fi;
       forget() }

  /* The listing travels behind the create, and the servers answer it at any moment after that. The keeper may as well choose
   * not to keep this node, and to spare the watch. */
  :: atomic { connected && clock_runs && state == LISTING && is_created && kept != 0 ->
       wanted = false; due = false;
       if
       :: armed = listing_is_watched; keepable = true
       :: armed = false; keepable = false
       fi;
       keepable = keepable && (!must_be_alone || (view[0] == 0 && view[1] == 0));
       if
       :: sees_another_before(kept) -> state = QUEUED; keepable = false
       :: else -> state = HELD
       fi }
  /* How it learns that nobody is in front any more is the business of lock.pml. */
  :: atomic { connected && clock_runs && state == QUEUED && !sees_another_before(kept) -> state = HELD }

  :: atomic { due && (state == IDLE || state == HELD) -> due = false; wanted = true }
  :: atomic { state == IDLE && wanted && takes_before_it_deletes -> delete_node() }
  :: atomic { state == IDLE && wanted && !takes_before_it_deletes && connected && kept != 0 && !is_deleted ->
       kept = 0; log!KEEPER_DELETED, 0, 0; is_deleted = true }
  :: atomic { state == IDLE && is_deleted -> start_again() }

  /* The watch is armed again on a new connection, and fires at once if the servers see that it missed something. */
  :: atomic { missed && connected -> missed = false; if :: armed -> fire() :: else fi }

  /* The node is old, or has been idle for long. Needed where an event may be swallowed, and modelled only there. */
  :: atomic { SWALLOWED && ages && !wanted && (state == IDLE || state == HELD) && keepable -> want() }

  /* ---- what befalls it ---- */

  :: atomic { breaks > 0 && connected ->
       breaks--; connected = false; missed = false;
       if :: working > 0 -> in_doubt = 1 :: true fi;
       if :: believes_this_connection_only -> want() :: else fi }
  /* What was sent on the connection that broke may be decided late. */
  :: atomic { in_doubt -> promise(no_stale_write, in_doubt == 1 || kept == 0); in_doubt = 0 }
  /* The next server knows as much as the last one, or more. */
  :: atomic { !connected && clock_runs ->
       connected = true;
       do
       :: nempty(log) ->
          log?what_, who_, number_;
          learn();
          if
          :: armed -> missed = true
          :: armed -> armed = false     /* a server before 3.6, whose pzxid is stale; or its event comes late */
          :: else
          fi
       :: break
       od;
       forget() }
  /* After a reconnection the deletes of idle nodes are paced. */
  :: atomic { state == LEAVING && connected && clock_runs -> delete_node() }

  /* The holder is notified before the servers end the session: see lease_clock.pml. */
  :: atomic { clocks > 0 && clock_runs ->
       clocks--; clock_runs = false;
       if
       :: working > 0 -> working = 0; is_lost = true
       :: working == 0 && state == HELD -> is_lost = true
       :: else
       fi }
  /* The servers end the session, */
  :: atomic { !clock_runs && kept != 0 -> kept = 0; log!KEEPER_DELETED, 0, 0 }
  /* and the client begins another one, earlier or later. The former one lives on until it is closed, for its connection
   * may be back. */
  :: atomic { !clock_runs ->
       lives_on = kept != 0 && state == IDLE && idle_nodes_count;
       former = kept; kept = 0;
       clock_runs = true; connected = true; armed = false; missed = false; keepable = false;
       if
       :: state == IDLE && empties_the_slot || state == LEAVING || state == QUEUED || state == LISTING -> start_again()
       :: else
       fi }
  :: atomic { former != 0 && !lives_on -> former = 0; log!KEEPER_DELETED, 0, 0 }
  od
}

/* ---- the caller ---- */

#define sees_wanted    (looks_at_the_flag && wanted)
#define sees_no_clock  (reads_the_clock && (reads_the_clock_last -> !clock_runs : saw_no_clock))

active proctype Caller() {
  byte left = ACQUIRES;
  bool saw_wanted, saw_no_clock;

  do
  :: left > 0 ->
     left--;
again:
     if
     /* The caller looks at the flag, and the event may come before it takes the node. */
     :: atomic { state == IDLE -> saw_wanted = sees_wanted; saw_no_clock = !clock_runs };
        atomic {
          if
          :: state == IDLE && !saw_wanted && !sees_no_clock ->
             state = HELD;
             in_doubt = (in_doubt -> 2 : 0);
             promise(nothing_is_kept, kept != 0 || is_deleted || !clock_runs);
             for (i_ : 0 .. 1) {
               if
               :: view[i_] != 0 ->
                  passes[i_]++;
                  /* The bound is 1, not 0, for the flag may be set while the caller takes the node. */
                  promise(served_soon, SWALLOWED || passes[i_] <= 1)
               :: else
               fi
             };
             i_ = 0
          :: state == IDLE && (saw_wanted || sees_no_clock) && clock_runs && !is_deleted -> delete_node()
          :: else
          fi;
          saw_wanted = false; saw_no_clock = false
        }
     :: atomic { state == NONE && connected && clock_runs ->
          number++; kept = number; own = number; log!KEEPER_CREATED, 0, number;
          start_again();
          state = LISTING; is_created = false; is_lost = false }
     :: state == LEAVING || state == LISTING || state == QUEUED || state == HELD || !clock_runs || !connected
     fi;
     if
     :: atomic { state == HELD ->
          if :: is_lost -> skip :: else -> working++; grant(own) fi }
     :: atomic { state == NONE || (state == IDLE && clock_runs) -> goto again }
     fi;
     atomic {
       if
       :: is_lost -> is_lost = false; start_again()
       :: else ->
          working--;
          if
          :: keepable && !sees_wanted && connected && clock_runs -> state = IDLE
          :: else -> delete_node()
          fi
       fi
     }
  :: left == 0 -> break
  od
}

/* ---- the others ---- */

proctype Other(byte i) {
  byte left = ROUNDS;

  do
  :: left > 0 ->
     left--;
     atomic { number++; others[i] = number; log!OTHER_CREATED, i, number };
     if
     :: atomic { is_first(others[i]) -> others_working++; grant(others[i]) };
        atomic { others_working--; others[i] = 0; log!OTHER_DELETED, i, 0 }
     :: atomic { cancels > 0 -> cancels--; others[i] = 0; log!OTHER_DELETED, i, 0 }
     fi
  :: left == 0 -> break
  od
}

init { atomic { run Other(0); run Other(1) } }
