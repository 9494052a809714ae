/* What is promised. A promise that is broken names itself: the name, always false, is part of the assertion that spin
 * prints. Beside these: nobody waits for ever, which shows as an invalid end state. */

#define promise(name, condition)  assert((condition) || name)

hidden byte one_holder;                 /* no two callers work under the lock at once */
hidden byte tokens_grow;                /* from grant to grant */
hidden byte no_stale_write;             /* no guarded write lands when the lock has passed on */
hidden byte no_orphan;                  /* an acquire ends in a lease or in no node */
hidden byte nothing_is_left;            /* nor is a watch, or a holder, when all are done */
hidden byte nobody_waits_for_the_dead;  /* for a node that it was told is gone */
hidden byte no_false_alarm;             /* no contender is notified of a loss while its node is there */
hidden byte told_in_time;               /* a session whose clock still runs is not ended */
hidden byte enough_nodes;               /* of the model, not of the lock: the configuration has room for the run */
hidden byte served_soon;                /* a contender that was reported sees a lock passed by at most so many times */
hidden byte nothing_is_kept;            /* of a session that is over */
hidden byte declined_by_somebody;       /* a try is declined because another caller has the lock, or waits for it */
hidden byte shares_are_bounded;         /* a node serves at most so many readers */
hidden byte overtaken_briefly;          /* a contender that is not reported yet, for so many ticks at most */
hidden byte no_signal_is_lost;      /* it wakes a waiter, unless nobody waits, or those that waited have gone */
hidden byte nobody_is_stuck;        /* at the end everybody is done, or waits for what nobody has done */
hidden byte together;               /* who is in has been there with so many others at one moment */
hidden byte counted_or_out;         /* a member that has given up is counted by no party */
hidden byte nobody_is_left_inside;  /* when a party is over */
hidden byte no_good_write_is_refused;   /* by a resource that compares tokens */
hidden byte a_move_ends;            /* if all members answer, or are gone */
