/* Handing the lock over inside one session, while a contender of another session stands in the same line.
 *
 * The holder lets go and the next one is granted at once, before any reply: what is sent is
 * multi{check(the next one's node), delete(the holder's)}. So the holder's node shields the next one until the servers
 * have seen both. Requests travel in order, several at a time; what a broken connection leaves unanswered is sent
 * again in the same order.
 *
 * How a contender learns that a remote one is gone is the business of lock.pml; here it simply knows. All nodes are
 * there from the start: the remote one is any of them. */

#define NODES 4
#define ALL   30     /* the nodes 1 to 4 */

#if defined(CONFIG_CHAIN)         /* three in one session; an operator deletes two nodes, a connection breaks */
#define LOSSES 1
#define DELETIONS 2
#define CANCELS 0
#define CLOCKS 0
#elif defined(CONFIG_HAND_OVER)   /* connections break twice, a caller gives up, the session runs out */
#define LOSSES 2
#define DELETIONS 1
#define CANCELS 1
#define CLOCKS 1
#else
#error "name a configuration: -DCONFIG_HAND_OVER or -DCONFIG_CHAIN"
#endif

#ifndef WITHOUT_CHECK_OF_THE_NEXT
#define checks_the_next true
#else
#define checks_the_next false
#endif
#ifndef WITHOUT_NOTICE_FIRST
#define tells_before_it_deletes true
#else
#define tells_before_it_deletes false
#endif
#ifndef WITHOUT_NEIGHBOURS
#define hands_over_to_neighbours_only true
#else
#define hands_over_to_neighbours_only false
#endif
#ifndef WITHOUT_CHECK_OF_THE_LAST
#define checks_the_present_holder true
#else
#define checks_the_present_holder false
#endif

#define BIT(n)       (1 << (n))
#define LOWER(n)     (BIT(n) - 1)
#define highest(set) ((set) >= 16 -> 4 : ((set) >= 8 -> 3 : ((set) >= 4 -> 2 : 1)))
#define lowest(set)  highest((set) & -(set))

#include "promises.pml"

byte losses = LOSSES, deletions = DELETIONS, cancels = CANCELS, clocks = CLOCKS;

byte live = ALL;
byte remote;                    /* the node of the other session's contender */
bool remote_holds;
byte unsettled = 2;              /* the session, and the remote contender */
byte excused;                   /* nodes that were deleted by hand when they were first: nobody can be told in time */
byte last_grant;

/* The session. */
byte waits;                     /* nodes of its contenders in line */
byte holder;                    /* the node whose caller works under the lock; 0: none */
byte late;                      /* without a guard: it has yet to be told */
bool connected = true, clock_out, over;

mtype = { DONE, CHECK_FAILED };
chan wire = [6] of { byte, byte };             /* nodes to check (0: none) and to delete */
chan replies = [6] of { byte, byte, mtype };
chan unanswered = [6] of { byte, byte };

hidden byte i_, check_, node_;

inline send(check, node) {
  unanswered!check, node;
  if :: connected -> wire!check, node :: else fi
}

inline grant(node) {
  promise(one_holder, !remote_holds || (excused & BIT(remote)) || (excused & BIT(node)));
  promise(tokens_grow, node > last_grant || (excused & BIT(node)));
  last_grant = (node > last_grant -> node : last_grant);
  holder = node
}

#define above(node)         (ALL & ~LOWER(node) & ~BIT(node))
#define remote_between(low, high)  ((live & BIT(remote)) && (low) < remote && remote < (high))
#define next_of(node)       lowest(waits & above(node))
#define can_hand_over(node) (!clock_out && (waits & above(node)) && \
                             !(hands_over_to_neighbours_only && remote_between(node, next_of(node))))

proctype Session() {
  byte check, node;
  mtype result;

  do
  /* First in line, by what the servers say. */
  :: d_step { waits && holder == 0 && !clock_out && (live & waits) && connected &&
              !(live & LOWER(lowest(live & waits))) ->
       node = lowest(live & waits);
       waits = waits & ~BIT(node);
       grant(node);
       node = 0
     }

  :: d_step { holder != 0 && !late ->
       node = holder;
       if
       :: can_hand_over(node) ->
          check = next_of(node);
          waits = waits & ~BIT(check);
          /* No node, no shield: where an operator deleted the holder's, the next one is no better off. */
          excused = excused | (excused & BIT(node) -> BIT(check) : 0);
          grant(check)
       :: else -> holder = 0
       fi;
       if
       :: checks_the_next -> send(check, node)
       :: else -> send(0, node)
       fi;
       check = 0; node = 0
     }

  /* Done, or done before: the node is gone. If the one in front was to be shielded for is gone, it is notified first; then
   * the shield goes. Who has got the lock from it meanwhile stands behind the same shield, and is checked in turn. */
  :: d_step { nempty(replies) && !late ->
       replies?check, node, result;
       unanswered?check_, node_;
       if
       :: result == CHECK_FAILED ->
          promise(no_false_alarm, !(live & BIT(check)));
          if
          :: holder == check && tells_before_it_deletes -> holder = 0
          :: holder == check && !tells_before_it_deletes -> late = check
          :: else
          fi;
          if
          :: holder != 0 && !late && checks_the_present_holder -> send(holder, node)
          :: else -> send(0, node)
          fi
       :: else
       fi;
       check = 0; node = 0; result = 0
     }
  :: d_step { late -> holder = 0; late = 0 }

  /* The caller of one that waits gives up. */
  :: atomic { cancels > 0 && waits ->
       cancels--;
       if :: node = lowest(waits) :: node = highest(waits) fi;
       d_step { waits = waits & ~BIT(node); send(0, node); node = 0 }
     }

  /* A listing, or the watch on the own node, tells that it is gone. */
  :: d_step { waits & ~live -> waits = waits & live }

  :: d_step { !connected && !over ->
       connected = true;
       for (i_ : 1 .. len(unanswered)) {
         unanswered?check_, node_;
         unanswered!check_, node_;
         wire!check_, node_
       }
       i_ = 0
     }

  /* The clock has told the holder. */
  :: d_step { clock_out && !late && (waits || holder) -> waits = 0; holder = 0 }

  :: atomic { !waits && !holder && !late && (over || !clock_out && empty(unanswered)) -> unsettled--; break }
  od
}

proctype Server() {
  byte check, node;
end:
  do
  :: d_step { nempty(wire) ->
       wire?check, node;
       if
       :: check != 0 && !(live & BIT(check)) -> replies!check, node, CHECK_FAILED
       :: else -> live = live & ~BIT(node); replies!check, node, DONE
       fi;
       check = 0; node = 0
     }
  od
}

proctype Remote() {
  do
  :: d_step { !remote_holds && (live & BIT(remote)) && !(live & LOWER(remote)) ->
       promise(one_holder, holder == 0 || (excused & BIT(holder)));
       promise(tokens_grow, remote > last_grant);
       last_grant = remote;
       remote_holds = true
     }
  :: d_step { remote_holds -> remote_holds = false; live = live & ~BIT(remote) }
  :: atomic { !remote_holds && !(live & BIT(remote)) -> unsettled--; break }
  od
}

inline break_connection() {
  connected = false;
  do :: nempty(wire) -> wire?_, _ :: empty(wire) -> break od;
  do :: nempty(replies) -> replies?_, _, _ :: empty(replies) -> break od;
  i_ = 0
}

proctype Fate() {
  byte node;
end:
  do
  :: d_step { losses > 0 && connected && nempty(unanswered) -> losses--; break_connection() }
  :: atomic { deletions > 0 && live ->
       node = 1;
       do
       :: node < NODES -> node++
       :: live & BIT(node) -> break
       :: node == NODES && !(live & BIT(node)) -> node = lowest(live); break
       od;
       d_step {
         deletions--;
         /* Whose node is at the front holds the lock, or shields who does. */
         excused = excused | (live & LOWER(node) -> 0 : BIT(node) | (node == remote -> 0 : BIT(holder)));
         live = live & ~BIT(node);
         node = 0
       }
     }
  :: d_step { clocks > 0 && (waits || holder || nempty(unanswered)) -> clocks--; clock_out = true }
  :: d_step { clock_out && !holder && !over ->
       over = true;
       break_connection();
       live = live & BIT(remote)
     }
  od
}

active proctype Quiescence() {
  d_step { unsettled == 0 -> promise(no_orphan, live == 0) }
}

init {
  atomic {
    if :: remote = 1 :: remote = 2 :: remote = 3 :: remote = 4 fi;
    waits = ALL & ~BIT(remote);
    run Session();
    run Server();
    run Remote();
    run Fate()
  }
}
