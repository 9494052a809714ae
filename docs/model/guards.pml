/* The guards of lock.pml: each is true, unless -DWITHOUT_<GUARD> takes it away to see what breaks. */

#ifndef WITHOUT_JUDGEMENT
#define judges_when_woken true
#else
#define judges_when_woken false
#endif
#ifndef WITHOUT_OWN_WATCH
#define watches_its_own_node true
#else
#define watches_its_own_node false
#endif
#ifndef WITHOUT_ATOMIC_WATCH
#define existence_comes_with_the_watch true
#else
#define existence_comes_with_the_watch false
#endif
#ifndef WITHOUT_FRESH_LISTING
#define lists_after_a_reconnect true
#else
#define lists_after_a_reconnect false
#endif
#ifndef WITHOUT_INTERSECTION
#define intersects_listings true
#else
#define intersects_listings false
#endif
#ifndef WITHOUT_QUORUM_WRITE
#define writes_before_it_looks true
#else
#define writes_before_it_looks false
#endif
#ifndef WITHOUT_OWNER_CHECK
#define checks_the_owner true
#else
#define checks_the_owner false
#endif
#ifndef WITHOUT_RETRIED_DELETE
#define retries_deletes true
#else
#define retries_deletes false
#endif
#ifndef WITHOUT_DELETES_FIRST
#define deletes_go_first true
#else
#define deletes_go_first false
#endif
#ifndef WITHOUT_TELLING
#define tells_when_the_clock_runs_out true
#else
#define tells_when_the_clock_runs_out false
#endif
#ifndef WITHOUT_PATIENCE
#define closes_when_holders_let_go true
#else
#define closes_when_holders_let_go false
#endif
#ifndef WITHOUT_CLOCK_AT_GRANT
#define asks_the_clock true
#else
#define asks_the_clock false
#endif
#ifndef WITHOUT_GUARDED_WRITE
#define writes_are_guarded true
#else
#define writes_are_guarded false
#endif
