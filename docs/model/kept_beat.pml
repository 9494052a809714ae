/* How long a contender may be overtaken by a kept lock of which the keeper's server has not heard: for as long as the
 * keeper's credit lasts.
 *
 * The servers decide in one order, and the keeper's server reports in that order, as late as it likes: a contender's node,
 * and the reply to a beat, which is a write. So a node that is not reported yet was created after the beat was sent whose
 * reply has come. The keeper passes its lock on only for a while after the send of such a beat.
 *
 * Time passes in ticks, as in lease_clock.pml, which is stricter: it credits a request when another one is answered. An age
 * is the number of ticks since something happened, LATE at the most. */

#ifndef CONFIG_IDLE_BEATS
#error "name a configuration: -DCONFIG_IDLE_BEATS"
#endif

#define COMFORT 4               /* ticks for which a beat allows passes */
#define LATE    8

#ifndef WITHOUT_CREDIT_AT_PASS
#define asks_for_credit true
#else
#define asks_for_credit false
#endif
#ifndef WITHOUT_QUORUM_BEAT
#define beats_are_writes true
#else
#define beats_are_writes false  /* a read, which a server answers that lags */
#endif
#ifndef WITHOUT_SENT
#define counts_from_the_send true
#else
#define counts_from_the_send false   /* but from the reply */
#endif

#include "promises.pml"

#define older(age)  age = ((age) < LATE -> (age) + 1 : LATE)

/* What the servers have decided, and the keeper's server has not reported. */
mtype = { NODE, BEAT };
chan log = [4] of { mtype };

bool is_there, is_reported;     /* the contender's node */
byte node_age;
bool beating, is_decided;       /* one beat is under way at a time */
byte beat_age;
byte credit_age = LATE;

#define may_pass  (!is_reported && (credit_age < COMFORT || !asks_for_credit))

active proctype World() {
end:
  do
  :: d_step { true -> if :: is_there -> older(node_age) :: else fi; if :: beating -> older(beat_age) :: else fi; older(credit_age) }
  :: d_step { !is_there && nfull(log) -> is_there = true; log!NODE }
  /* It gives up. */
  :: d_step { is_reported -> is_there = false; is_reported = false; node_age = 0 }
  :: d_step { beating && !is_decided && beats_are_writes && nfull(log) -> is_decided = true; log!BEAT }
  od
}

inline credit() {
  credit_age = (counts_from_the_send -> beat_age : 0);
  beating = false; is_decided = false; beat_age = 0
}

active proctype Keeper() {
end:
  do
  :: d_step { !beating -> beating = true }
  :: d_step { log?[NODE] -> log?NODE; is_reported = true }
  :: d_step { log?[BEAT] -> log?BEAT; credit() }
  :: d_step { beating && !beats_are_writes -> credit() }
  :: d_step { may_pass -> promise(overtaken_briefly, !is_there || node_age < COMFORT) }
  od
}
