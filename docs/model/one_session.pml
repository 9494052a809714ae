/* One session whose contenders stand in a line, as far as its servers tell it: for numbers.pml and read_write_line.pml.
 *
 * What the servers decide goes into a log. The session is at one place in it, up to which its server has told it; what
 * that server knows and has not told yet is as good as behind. The next server is there, too, or further on. Requests
 * are applied at once: one that travels for a while is one that is sent late, by a client that knows no more.
 *
 * Nodes are numbered in the order of the queue; a set of nodes is a mask. The including file says what `losses` are left,
 * and how long the log may be (LAG). */

#define BIT(n)       (1 << (n))
#define LOWER(n)     (BIT(n) - 1)
#ifndef highest
#define highest(set) ((set) >= 256 -> 8 : ((set) >= 128 -> 7 : ((set) >= 64 -> 6 : ((set) >= 32 -> 5 : \
                     ((set) >= 16 -> 4 : ((set) >= 8 -> 3 : ((set) >= 4 -> 2 : 1)))))))
#endif
#define lowest(set)  highest((set) & -(set))

#include "promises.pml"

/* The truth: the nodes that are there; and those that an operator deleted where nobody can be told in time. */
short live, excused;

#define CREATED(n)   (n)
#define DELETED(n)   (16 + (n))
#define REFUSED      32         /* a check that failed */
#define GONE         33         /* the parent */

chan log = [LAG] of { byte, bool };          /* and whether it answers a request on this connection */
/* Nodes to check (0: none) and to delete; or what else the including file asks for. */
chan unanswered = [LAG] of { byte, byte };
bool connected = true, is_done;
short view, leaving;            /* the nodes, as far as the session has heard; and those that it has released */

hidden byte i_, j_, k_, n_, t_, check_, node_;
hidden short set_;

inline forget() { t_ = 0; n_ = 0; i_ = 0; j_ = 0; k_ = 0; check_ = 0; node_ = 0; set_ = 0 }

#define can_send     (nfull(unanswered) && (!connected || nfull(log)))

inline decide(t, mine) {
  if :: !is_done -> log!t, mine :: else fi
}

inline check_and_delete(check, node) {
  if
  :: check != 0 && !(live & BIT(check)) -> decide(REFUSED, true)
  :: else -> live = live & ~BIT(node); decide(DELETED(node), true)
  fi
}

inline apply(t) {
  if
  :: t < DELETED(0) -> view = view | BIT(t)
  :: t > DELETED(0) && t < REFUSED -> view = view & ~BIT(t - DELETED(0))
  :: else
  fi
}

/* Replies on their way are lost. */
inline break_connection() {
  connected = false;
  for (i_ : 1 .. len(log)) { log?t_, _; log!t_, false }
}

/* It need not be told any more. */
inline end_session() {
  is_done = true;
  do :: nempty(log) -> log?_, _ :: empty(log) -> break od;
  view = 0
}
