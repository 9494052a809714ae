/* The read/write lock, and the downgrade: a writer takes the read lock besides, then gives up the write lock. Its read
 * node sorts right behind its write node, and so below everybody who waits. That is the one case in which the nodes
 * below a waiter do more than vanish.
 *
 * Client 0 writes, and reads on; client 1 writes; client 2 reads. Nodes are numbered by their order: for the read node
 * of a downgrade a number is kept free. */

#define CLIENTS 3
#define NODES 4
#define LOSSES 2
#define LAG 4

#ifndef CONFIG_DOWNGRADE
#error "name a configuration: -DCONFIG_DOWNGRADE"
#endif

#ifndef WITHOUT_SECOND_LISTING
#define lists_when_a_writer_goes true
#else
#define lists_when_a_writer_goes false
#endif
#ifndef WITHOUT_THE_LISTED_DEAD
#define waits_for_whom_it_lists true
#else
#define waits_for_whom_it_lists false
#endif

byte losses = LOSSES;
bool done[CLIENTS];
#define lag_matters  (losses > 0 || connection[1] != LEADER && !done[1] || connection[2] != LEADER && !done[2])

#include "servers.pml"
#include "promises.pml"

byte writers;              /* nodes that exclude everybody behind them: their names say so */
bool writes[CLIENTS];      /* its caller works under the write lock */
bool reads[CLIENTS];       /* or under the read lock */
byte unsettled = CLIENTS;

mtype = { CREATE, LIST, WATCH_LOWER, WAIT, HELD, DOWNGRADE, DOWNGRADED };

#define is_writer  (me != 2)
#define must_list_after(node)  (is_writer && (writers & BIT(node)) && lists_when_a_writer_goes)
#define may_ask    (connection[me] != NOWHERE && empty(events[me]))

inline grant() {
  d_step {
    for (c_ : 0 .. CLIENTS - 1) {
      promise(one_holder, c_ == me || !writes[c_] && !(is_writer && reads[c_]))
    }
    if :: is_writer -> writes[me] = true :: else -> reads[me] = true fi
  };
  phase = HELD
}

proctype Client(byte me) {
  mtype phase = CREATE;
  byte known;              /* the live lower nodes that exclude it, as last seen */
  byte gone;               /* nodes that it was told are gone */
  byte n;

  do
  :: d_step { phase == CREATE && may_ask && can_commit ->
       own[me] = next;
       writers = writers | (is_writer -> BIT(next) : 0);
       next = next + (me == 0 -> 2 : 1);
       commit(CREATED(own[me]));
       replied_to_write(me);
       phase = LIST
     }

  :: atomic { phase == LIST && may_ask ->
       replied_to_read(me);
       /* Not without those that it was told are gone: a listing that shows them is older than what they left. */
       known = view(me) & LOWER(own[me]) & (is_writer -> 255 : writers) & (waits_for_whom_it_lists -> 255 : ~gone);
       if
       :: known == 0 -> grant()
       :: else -> phase = WATCH_LOWER
       fi
     }

  :: atomic { phase == WATCH_LOWER && may_ask ->
       replied_to_read(me);
       n = highest(known);
       if
       :: view(me) & BIT(n) -> watched[me] = n; phase = WAIT
       :: else ->
          known = known & ~BIT(n);
          if
          :: must_list_after(n) -> phase = LIST
          :: else -> if :: known == 0 -> grant() :: else fi
          fi
       fi;
       n = 0
     }

  :: atomic { nempty(events[me]) ->
       events[me]?n;
       known = known & ~BIT(n);
       gone = gone | BIT(n);
       if
       :: phase != WAIT && phase != WATCH_LOWER
       :: (phase == WAIT || phase == WATCH_LOWER) && must_list_after(n) -> phase = LIST
       :: (phase == WAIT || phase == WATCH_LOWER) && !must_list_after(n) ->
          if :: known == 0 -> grant() :: else -> phase = WATCH_LOWER fi
       fi;
       n = 0
     }

  /* Let go; or, with the read node behind it, of the write node only. */
  :: d_step { phase == HELD && me == 0 && may_ask && can_commit ->
       commit(CREATED(own[me] + 1));
       reads[me] = true;
       phase = DOWNGRADE
     }
  :: d_step { phase == DOWNGRADE && may_ask && can_commit ->
       writes[me] = false;
       commit(DELETED(own[me]));
       phase = DOWNGRADED
     }
  :: d_step { (phase == HELD || phase == DOWNGRADED) && may_ask && can_commit ->
       reads[me] = false; writes[me] = false; done[me] = true; unsettled--;
       commit(DELETED(own[me] + (phase == DOWNGRADED -> 1 : 0)));
       own[me] = 0
     } -> break

  :: atomic { connection[me] == NOWHERE ->
       do
       :: nempty(events[me]) -> events[me]?watched[me]
       :: empty(events[me]) -> break
       od;
       if
       :: connection[me] = LEADER
       :: follower_accepts(me) -> connection[me] = FOLLOWER
       fi;
       rearm_watched(me);
       if
       :: phase == WATCH_LOWER || phase == WAIT -> phase = LIST
       :: else
       fi
     }
  od
}

/* Only who waits is of interest here; the rest is in lock.pml. */
proctype Fate(byte c) {
end:
  do
  :: d_step { losses > 0 && connection[c] != NOWHERE && own[c] != 0 && !done[c] ->
       losses--;
       connection[c] = NOWHERE
     }
  od
}

active proctype Quiescence() {
  d_step { unsettled == 0 -> promise(no_orphan, live == 0) }
}

init {
  atomic {
    for (c_ : 0 .. CLIENTS - 1) { session[c_] = c_; run Client(c_) }
    run Fate(1);
    run Fate(2)
  }
}
