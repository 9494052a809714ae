/* The configurations of numbers.pml and read_write_line.pml, and their guards: each is true, unless -DWITHOUT_<GUARD>
 * takes it away to see what breaks. */

#if defined(CONFIG_NUMBERS)         /* three of one session and two others; one gives up */
#define OWN 3
#define LAG 4
#define LOSSES 0
#define CANCELS 1
#elif defined(CONFIG_OTHER_SERVER)  /* the connection breaks, and servers arm watches again without a look at the mzxid */
#define OWN 2
#define LAG 4
#define LOSSES 1
#define CANCELS 0
#elif defined(CONFIG_MZXID)         /* they do look: then the watch of an earlier connection may be believed */
#define OWN 2
#define LAG 4
#define LOSSES 1
#define CANCELS 0
#define WITHOUT_SAME_CONNECTION
#define servers_compare_mzxid true
/* Members of the line: writers or readers. One node is deleted by hand, and: */
#elif defined(CONFIG_RRW)           /* a writer behind two readers; one gives up */
#define writes(m) (m == 2)
#define may_stand(m) (m == 0)
#define CANCELS 1
#elif defined(CONFIG_RWR)           /* a writer between readers; a remote writer downgrades */
#define writes(m) (m == 1)
#define REMOTE_DOWNGRADES 1
#elif defined(CONFIG_WRR)           /* readers behind a writer; the connection breaks */
#define writes(m) (m == 0)
#define may_stand(m) (m == 1)
#define LAG 3
#define LOSSES 1
#elif defined(CONFIG_WWR)           /* a writer downgrades in front of a writer and a reader */
#define writes(m) (m != 2)
#define may_stand(m) (m != 1)
#define DOWNGRADES 1
#else
#error "name a configuration: -DCONFIG_NUMBERS, ..."
#endif

/* What is left open above does not happen. */
#ifndef LAG
#define LAG 4
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#ifndef CANCELS
#define CANCELS 0
#endif
#ifndef may_stand
#define may_stand(m) true
#endif
#ifndef DOWNGRADES
#define DOWNGRADES 0
#endif
#ifndef REMOTE_DOWNGRADES
#define REMOTE_DOWNGRADES 0
#endif
#ifndef servers_compare_mzxid
#define servers_compare_mzxid false
#endif

/* Of both. */
#ifndef WITHOUT_SEEN_GONE
#define waits_until_seen_gone true
#else
#define waits_until_seen_gone false
#endif

/* Of numbers.pml. */
#ifndef WITHOUT_PARENT_WATCH
#define watches_the_parent true
#else
#define watches_the_parent false
#endif
#ifndef WITHOUT_SAME_CONNECTION
#define arms_on_every_connection true
#else
#define arms_on_every_connection false
#endif
#ifndef WITHOUT_EPOCH
#define was_seen_since_arming(c) (seen & BIT(c))
#else
#define was_seen_since_arming(c) true
#endif
#ifndef WITHOUT_EQUAL_NUMBERS
#define follows(n, m) (number(n) == number(m) + 1)
#else
#define follows(n, m) (number(n) > number(m))
#endif

/* Of read_write_line.pml. */
#ifndef WITHOUT_CLEAR
#define asks_whether_clear true
#else
#define asks_whether_clear false
#endif
#ifndef WITHOUT_EARLIER_READERS
#define waits_for_earlier_readers true
#else
#define waits_for_earlier_readers false
#endif
#ifndef WITHOUT_CHECK_OF_READERS
#define checks_readers true
#else
#define checks_readers false
#endif
#ifndef WITHOUT_DOWNGRADE_IN_LINE
#define read_node_is_in_line true
#else
#define read_node_is_in_line false
#endif
#ifndef WITHOUT_WRITER_GONE
#define readers_wait_for_the_writer true
#else
#define readers_wait_for_the_writer false
#endif
#ifndef WITHOUT_LISTED_CLEAR
#define writers_may_leave_readers true
#else
#define writers_may_leave_readers false
#endif
#ifndef WITHOUT_THE_MISSING
#define tells_the_missing true
#else
#define tells_the_missing false
#endif
#ifndef WITHOUT_WRITERS_CHECKED
#define writers_wait_for_the_check true
#else
#define writers_wait_for_the_check false
#endif
