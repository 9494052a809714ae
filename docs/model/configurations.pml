/* The configurations of lock.pml: how many clients, how often they acquire, and what may befall them. */

#if defined(CONFIG_QUEUE)         /* three in line; a caller gives up, a client crashes */
#define CLIENTS 3
#define NODES 5
#define ACQUIRES(c) (c == 0 -> 2 : 1)
#define CANCELS 1
#define CRASHES 1
#elif defined(CONFIG_RECONNECT)   /* connections break, replies are lost, the next server lags behind */
#define CLIENTS 2
#define NODES 6
#define LAG 3
#define ACQUIRES(c) (c == 0 -> 2 : 1)
#define LOSSES 2
#define CANCELS 1
#elif defined(CONFIG_SESSIONS)    /* the same, while a session runs out */
#define CLIENTS 2
#define NODES 5
#define LAG 3
#define ACQUIRES(c) 1
#define LOSSES 2
#define CLOCKS 1
#elif defined(CONFIG_LAG)         /* three in line, and one of them meets a server that lags behind */
#define CLIENTS 3
#define NODES 4
#define LAG 3
#define ACQUIRES(c) 1
#define LOSSES 1
#define MAY_LOSE(c) (c == 2)
#define CANCELS 1
#elif defined(CONFIG_OPERATOR)    /* somebody deletes a node by hand */
#define CLIENTS 2
#define NODES 4
#define LAG 2
#define ACQUIRES(c) (c == 0 -> 2 : 1)
#define LOSSES 1
#define DELETIONS 1
#define WRITES 1
#elif defined(CONFIG_STOPPED)     /* a process is stopped for longer than its session lives, and goes on */
#define CLIENTS 2
#define NODES 6
#define ACQUIRES(c) 2
#define SLEEPS 1
#define CANCELS 1
#define WRITES 1
#else
#error "name a configuration: -DCONFIG_QUEUE, ..."
#endif

/* What is left open above does not happen. */
#ifndef LAG
#define LAG 0
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#ifndef MAY_LOSE
#define MAY_LOSE(c) true
#endif
#ifndef CANCELS
#define CANCELS 0
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef CLOCKS
#define CLOCKS 0
#endif
#ifndef SLEEPS
#define SLEEPS 0
#endif
#ifndef DELETIONS
#define DELETIONS 0
#endif
#ifndef WRITES
#define WRITES 0
#endif
