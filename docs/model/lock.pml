/* The lock between sessions: one contender a client, the queue of remote nodes, reconnects, loss.
 *
 * A client is a loop of guarded actions; each is one reply, one notification or one decision. Whatever happens to
 * it (a lost connection, the end of its session, a caller who gives up) finds it in one of the phases below. Every
 * budget is finite, so a run ends: where a client cannot go on and is not done, spin reports an invalid end state. */

#include "configurations.pml"
#include "guards.pml"

/* What may still go wrong. */
byte losses = LOSSES, cancels = CANCELS, crashes = CRASHES, clocks = CLOCKS, sleeps = SLEEPS, deletions = DELETIONS;

/* Whether anybody may still look at the follower. */
#define concerned(c)  (connection[c] != LEADER && !done[c] && !crashed[c])
#if CLIENTS == 2
#define lag_matters   (losses > 0 || concerned(0) || concerned(1))
#else
#define lag_matters   (losses > 0 || concerned(0) || concerned(1) || concerned(2))
#endif

/* ---- what the environment can see of a client ---- */

bool holds[CLIENTS];       /* its caller works under the lock */
bool told[CLIENTS];        /* its caller was told that the lock is lost */
bool clock_out[CLIENTS];   /* its lease clock has run out */
bool excused[CLIENTS];     /* it was stopped; or it was first in line, and its node was deleted by hand */
bool crashed[CLIENTS];
bool done[CLIENTS];
byte pending[CLIENTS];     /* nodes to delete: retried until they are gone, or the session is over */
bool postponed[CLIENTS];   /* without a guard: they wait for the end of the acquire */
byte unsettled = CLIENTS;  /* clients not done, and sessions that the servers have still to end */

byte last_grant;           /* ghost: the highest token handed out */

#include "promises.pml"

#include "servers.pml"

mtype = { CREATE, LOOK, LIST, WATCH_OWN, WATCH_LOWER, WAIT, HELD, FENCE, SWEEP, REST, REQUEST, REPLY };

inline forget_events(c) {
  do :: nempty(events[c]) -> events[c]?_ :: empty(events[c]) -> break od
}

/* The connection breaks. What has arrived on it may still be read. */
inline break_connection(c) {
  connection[c] = NOWHERE;
  if :: retries_deletes :: !retries_deletes -> pending[c] = 0 fi;
  if :: deletes_go_first :: !deletes_go_first -> postponed[c] = true fi
}

/* ---- a client ---- */

/* One connection answers in order: what was sent before is done, what was notified before is known. */
#define may_ask   (connection[me] != NOWHERE && empty(events[me]) && !clock_out[me])
#define deletes   (pending[me] != 0 && (!postponed[me] || phase == REST || phase == HELD))
#define may_read  (may_ask && (pending[me] == 0 || postponed[me]))

/* Either a lease or no node. */
inline end_acquire() {
  if :: own[me] != 0 -> pending[me] = pending[me] | BIT(own[me]) :: else fi;
  own[me] = 0; known = 0; gone = 0; named = 0; in_doubt = false; listed = false; excused[me] = false;
  watches_own[me] = false; watched[me] = 0; forget_events(me);
  if
  :: acquires > 0 -> acquires--; phase = CREATE
  :: else -> phase = REST
  fi
}

/* Nothing is granted unless the clock runs. If it does not, the session is given up next. */
inline grant() {
  if
  :: clock_out[me] && asks_the_clock
  :: else ->
     d_step {
       for (c_ : 0 .. CLIENTS - 1) {
         promise(one_holder, c_ == me || !holds[c_] || excused[c_] || excused[me])
       }
       promise(tokens_grow, own[me] > last_grant || excused[me]);
       last_grant = (own[me] > last_grant -> own[me] : last_grant);
       holds[me] = true
     };
     phase = HELD
  fi
}

proctype Client(byte me) {
  mtype phase = CREATE;    /* what it does next */
  byte acquires = ACQUIRES(me) - 1;
  byte named;              /* nodes that bear the uuid of this acquisition: known to the client by looking only */
  byte known;              /* the live lower nodes, as last seen: a superset of the truth */
  byte gone;               /* ghost: nodes that it was told are gone */
  bool in_doubt;           /* a reply to a create was lost: there may be a node that nobody knows of */
  bool listed;             /* once, in this acquire */
  byte writes = WRITES;
  byte n;
  mtype lost;

  do

  /* -- what a quorum must decide: deletes first, then a create, or a write that changes nothing -- */

  :: atomic { may_ask && can_commit &&
              (deletes || may_read && (phase == CREATE && (writes_before_it_looks || !in_doubt) || phase == FENCE)) ->
       if
       :: deletes -> n = DELETED(highest(pending[me]))
       :: else -> n = (phase == CREATE -> CREATED(next) : NOTHING)
       fi;
       if
       :: lost = 0
       :: losses > 0 && MAY_LOSE(me) -> lost = REQUEST
       :: losses > 0 && MAY_LOSE(me) -> lost = REPLY
       fi;
       if
       :: lost != REQUEST ->
          if
          :: n != NOTHING && n < DELETED(0) ->
             promise(enough_nodes, next <= NODES);
             next++;
             made_by[session[me]] = made_by[session[me]] | BIT(n);
             named = named | BIT(n)
          :: else
          fi;
          d_step { commit(n) }
       :: else
       fi;
       if
       :: lost -> losses--; break_connection(me); in_doubt = in_doubt || phase == CREATE && n < DELETED(0)
       :: else ->
          d_step { replied_to_write(me) };
          if
          :: n > DELETED(0) ->
             pending[me] = pending[me] & ~BIT(n - DELETED(0));
             postponed[me] = postponed[me] && pending[me] != 0
          :: n < DELETED(0) && phase == FENCE -> phase = SWEEP
          :: n < DELETED(0) && phase == CREATE && in_doubt -> phase = LOOK
          :: n < DELETED(0) && phase == CREATE && !in_doubt -> own[me] = n; phase = LIST
          fi
       fi;
       n = 0; lost = 0
     }

  /* -- acquire: list, and judge; watch the own node, then the nearest lower one -- */

  /* Behind a write on the same connection, hence not older than the create in doubt. Of several nodes of this
   * acquisition and this session the lowest is kept. */
  :: atomic { may_read && (phase == LOOK || phase == CREATE && in_doubt && !writes_before_it_looks) ->
       replied_to_read(me);
       n = view(me) & named & (checks_the_owner -> made_by[session[me]] : 255);
       own[me] = (n -> lowest(n) : 0);
       pending[me] = pending[me] | (view(me) & named & ~BIT(own[me]));
       in_doubt = false;
       phase = (n -> LIST : CREATE);
       n = 0
     }

  :: atomic { phase == LIST && may_read ->
       replied_to_read(me);
       if
       :: !(view(me) & BIT(own[me])) -> end_acquire()
       :: else ->
          known = view(me) & LOWER(own[me]) & ~pending[me] & (listed && intersects_listings -> known : 255);
          listed = true;
          if
          :: known == 0 -> grant()
          :: known != 0 -> phase = (watches_own[me] || !watches_its_own_node -> WATCH_LOWER : WATCH_OWN)
          fi
       fi
     }

  :: atomic { phase == WATCH_OWN && may_read ->
       replied_to_read(me);
       if
       :: view(me) & BIT(own[me]) -> watches_own[me] = true; phase = WATCH_LOWER
       :: else -> end_acquire()
       fi
     }

  :: atomic { phase == WATCH_LOWER && may_read ->
       n = (known -> highest(known) : 0);
       promise(nobody_waits_for_the_dead, !(gone & BIT(n)));
       if
       :: n == 0 -> grant()
       :: n != 0 ->
          replied_to_read(me);
          if
          :: (view(me) & BIT(n)) -> watched[me] = n; phase = WAIT
          :: !(view(me) & BIT(n)) && !existence_comes_with_the_watch -> phase = WAIT
          :: !(view(me) & BIT(n)) && existence_comes_with_the_watch -> known = known & ~BIT(n)
          fi
       fi;
       n = 0
     }

  :: atomic { nempty(events[me]) ->
       events[me]?n;
       if
       :: n == own[me] && holds[me] -> told[me] = true
       :: n == own[me] && !holds[me] -> end_acquire()
       :: n != own[me] && (known & BIT(n)) ->
          known = known & ~BIT(n);
          gone = gone | BIT(n);
          if
          :: phase == WAIT && (known == 0 || !judges_when_woken) -> grant()
          :: phase == WAIT && known != 0 && judges_when_woken -> phase = WATCH_LOWER
          :: phase != WAIT
          fi
       :: else
       fi;
       n = 0
     }

  /* -- the caller gives up, at any step; a create in doubt is looked for behind a write that changes nothing -- */

  :: atomic { cancels > 0 && phase != HELD && phase != FENCE && phase != SWEEP && phase != REST && !clock_out[me] ->
       cancels--;
       if
       :: in_doubt -> phase = (writes_before_it_looks -> FENCE : SWEEP)
       :: else -> end_acquire()
       fi
     }
  :: atomic { phase == SWEEP && may_read ->
       replied_to_read(me);
       pending[me] = pending[me] | (view(me) & named);
       end_acquire()
     }

  /* -- hold, and let go -- */

  /* Over whatever connection and session it comes. */
  :: d_step { holds[me] && writes > 0 ->
       writes--;
       if
       :: (live & BIT(own[me])) || !writes_are_guarded -> promise(no_stale_write, own[me] == last_grant)
       :: else -> told[me] = true
       fi
     }
  :: atomic { holds[me] ->
       holds[me] = false; told[me] = false;
       end_acquire()
     }

  /* -- the connection is back -- */

  :: atomic { connection[me] == NOWHERE && !clock_out[me] && (phase != REST || pending[me] != 0) ->
       /* A watch is the library's until its event has been read. */
       do
       :: nempty(events[me]) ->
          events[me]?n;
          watches_own[me] = watches_own[me] || n == own[me];
          watched[me] = (n == own[me] -> watched[me] : n);
          n = 0
       :: empty(events[me]) -> break
       od;
       if
       :: over[session[me]] -> clock_out[me] = true; told[me] = holds[me]
       :: !over[session[me]] ->
          if
          :: connection[me] = LEADER
          :: LAG > 0 && follower_accepts(me) -> connection[me] = FOLLOWER
          fi;
          /* In no order. */
          if
          :: true -> rearm_own(me); rearm_watched(me)
          :: watches_own[me] && watched[me] != 0 -> rearm_watched(me); rearm_own(me)
          fi;
          if
          :: phase == LOOK -> phase = CREATE
          :: phase == SWEEP && writes_before_it_looks -> phase = FENCE
          :: phase == WATCH_OWN || phase == WATCH_LOWER || (phase == WAIT && lists_after_a_reconnect) -> phase = LIST
          :: else
          fi
       fi
     }

  /* -- the clock has run out, nobody works under the lock any more: the session is given up, the next begins -- */

  :: atomic { clock_out[me] && !holds[me] ->
       unsettled = unsettled + (over[session[me]] -> 0 : 1);
       session[me] = session[me] + CLIENTS;
       connection[me] = LEADER; behind[me] = 0;
       clock_out[me] = false; excused[me] = false;
       forget_events(me);
       if
       :: phase == REST
       :: phase == FENCE || phase == SWEEP -> end_acquire()
       :: in_doubt && (phase == CREATE || phase == LOOK) -> phase = CREATE
       :: else -> acquires++; end_acquire()      /* in line again, at the end */
       fi;
       pending[me] = 0; postponed[me] = false
     }

  :: d_step { phase == REST && pending[me] == 0 && !clock_out[me] ->
       promise(no_orphan, !(live & made_by[session[me]]));
       done[me] = true; unsettled--
     } -> break
  od unless { crashed[me] }
}

/* What befalls a client. */
proctype Fate(byte c) {
end:
  do
  :: d_step { losses > 0 && MAY_LOSE(c) && connection[c] != NOWHERE && !done[c] && !crashed[c] ->
       losses--;
       break_connection(c)
     }
  :: d_step { clocks > 0 && !clock_out[c] && !done[c] && !crashed[c] && session[c] == c ->
       clocks--;
       clock_out[c] = true;
       told[c] = holds[c] && tells_when_the_clock_runs_out
     }
  /* A process that is stopped is not told, nor will it be before it goes on. */
  :: d_step { sleeps > 0 && !clock_out[c] && !done[c] && !crashed[c] && session[c] == c ->
       sleeps--;
       clock_out[c] = true;
       excused[c] = holds[c]
     }
  :: d_step { crashes > 0 && !done[c] && !crashed[c] ->
       crashes--;
       crashed[c] = true;
       connection[c] = NOWHERE; holds[c] = false; watches_own[c] = false; watched[c] = 0;
       if :: over[session[c]] -> unsettled-- :: else fi
     }
  /* The servers end no session whose clock still runs: lease_clock.pml shows why. A holder that is notified releases
   * within the margin of the clock, unless the client itself ends the session at once. */
  :: d_step { can_commit && !over[session[c]] &&
              (crashed[c] || clock_out[c] && !(holds[c] && told[c] && closes_when_holders_let_go)) ->
       if :: crashed[c] -> unsettled-- :: else fi;
       over[session[c]] = true;
       commit(ENDED(session[c]))
     }
  :: d_step { can_commit && session[c] != c && !over[c] ->
       unsettled--;
       over[c] = true;
       commit(ENDED(c))
     }
  :: d_step { can_commit && deletions > 0 && own[c] != 0 && (live & BIT(own[c])) ->
       deletions--;
       excused[c] = (live & LOWER(own[c])) == 0;
       commit(DELETED(own[c]))
     }
  od
}

/* Nothing is left over. Where it is never reached, somebody waits for ever: an invalid end state. */
active proctype Quiescence() {
  d_step { unsettled == 0 ->
    promise(no_orphan, live == 0);
    for (c_ : 0 .. CLIENTS - 1) {
      promise(nothing_is_left, !watches_own[c_] && watched[c_] == 0 && !holds[c_])
    }
  }
}

init {
  atomic {
    for (c_ : 0 .. CLIENTS - 1) {
      session[c_] = c_;
      run Client(c_);
      run Fate(c_)
    }
  }
}
