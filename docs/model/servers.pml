/* The servers, as far as a lock can tell: what a quorum has decided, a follower that may lag behind it, sessions,
 * watches, and the connections over which clients see all this.
 *
 * Nodes are numbered 1, 2, ... in the order of their creation. The number stands for the sequence number and for
 * the czxid, which is the fencing token. A set of nodes is a mask with BIT(n) for each.
 *
 * The including file says how many there may be (CLIENTS, NODES: at most 7) and how many transactions the follower
 * may lag behind (LAG; 0: there is none), and has the budget of connections that break (`losses`). */

#define BIT(n)       (1 << (n))
#define LOWER(n)     (BIT(n) - 1)
#define highest(set) ((set) >= 128 -> 7 : ((set) >= 64 -> 6 : ((set) >= 32 -> 5 : ((set) >= 16 -> 4 : \
                     ((set) >= 8 -> 3 : ((set) >= 4 -> 2 : 1))))))
#define lowest(set)  highest((set) & -(set))

/* ---- what the servers know ---- */

byte live;                      /* the truth: the nodes that are there */
byte next = 1;                  /* the number of the next one */
byte made_by[2 * CLIENTS];      /* of a session: its nodes, gone ones, too. Client c has c, c + CLIENTS */
bool over[2 * CLIENTS];         /* sessions that have ended */

/* A transaction is a byte. */
#define NOTHING      0          /* a write that changes nothing, such as a multi of checks */
#define CREATED(n)   (n)
#define DELETED(n)   (8 + (n))
#define ENDED(s)     (16 + (s))

/* Of the follower: the nodes that it knows of, and the transactions that it has still to apply. */
byte replica;
#if LAG
chan log = [LAG] of { byte };
#endif

/* ---- what a client and its server share ---- */

#define NOWHERE      0
#define LEADER       1
#define FOLLOWER     2

byte connection[CLIENTS] = LEADER;
byte session[CLIENTS];
byte behind[CLIENTS];           /* of the transactions in `log`, those that replies to the client tell of already */
byte own[CLIENTS];              /* the node that it contends with; 0: none */
bool watches_own[CLIENTS];
byte watched[CLIENTS];          /* the lower node that it watches; 0: none */
chan events[CLIENTS] = [2] of { byte };  /* nodes deleted: in the order of the changes, on one connection */

#define view(c)      (connection[c] == FOLLOWER -> replica : live)

hidden byte c_, set_, t_;       /* within one d_step only: a search that backtracks does not restore them */

/* Watches fire once. */
inline fire(server, set) {
  for (c_ : 0 .. CLIENTS - 1) {
    if
    :: connection[c_] == server && watches_own[c_] && (set & BIT(own[c_])) ->
       watches_own[c_] = false;
       events[c_]!own[c_]
    :: connection[c_] == server && (set & BIT(watched[c_])) && watched[c_] != 0 ->
       events[c_]!watched[c_];
       watched[c_] = 0
    :: else
    fi
  }
}

inline apply(nodes, server, t) {
  if
  :: t < DELETED(0) ->
     nodes = nodes | (t == NOTHING -> 0 : BIT(t))
  :: else ->
     if
     :: t < ENDED(0) -> set_ = BIT(t - DELETED(0))
     :: t >= ENDED(0) ->
        set_ = made_by[t - ENDED(0)];
        /* The connection first: no session hears of its end by its own watches. */
        if
        :: connection[(t - ENDED(0)) % CLIENTS] == server && session[(t - ENDED(0)) % CLIENTS] == t - ENDED(0) ->
           connection[(t - ENDED(0)) % CLIENTS] = NOWHERE
        :: else
        fi
     fi;
     set_ = set_ & nodes;
     nodes = nodes & ~set_;
     if :: set_ != 0 -> fire(server, set_); set_ = 0 :: else fi
  fi
}

/* A quorum decides. A full log makes others wait for the follower: that bounds its lag. */
#if LAG
#define can_commit  nfull(log)
inline commit(t) {
  if :: lag_matters -> log!t :: else fi;
  apply(live, LEADER, t)
}
#else
#define can_commit  true
inline commit(t) { apply(live, LEADER, t) }
#endif

#if LAG
inline follower_applies_one() {
  log?t_;
  for (c_ : 0 .. CLIENTS - 1) { if :: behind[c_] > 0 -> behind[c_]-- :: else fi }
  apply(replica, FOLLOWER, t_)
}

active proctype Follower() {
end:
  do
  :: d_step { nempty(log) && lag_matters -> follower_applies_one() }
  /* Nobody will ever look at it again. */
  :: d_step { !lag_matters && (nempty(log) || replica != 0) ->
       do :: nempty(log) -> log?_ :: empty(log) -> break od;
       for (c_ : 0 .. CLIENTS - 1) { behind[c_] = 0 }
       replica = 0
     }
  od
}

/* A reply tells all that its server knows. A follower answers a write when it has applied it, hence all before it;
 * what that deletes is notified before the reply. */
inline replied_to_read(c) {
  if :: connection[c] == LEADER && lag_matters -> behind[c] = len(log) :: else fi
}
inline replied_to_write(c) {
  do
  :: connection[c] == FOLLOWER && nempty(log) -> follower_applies_one()
  :: connection[c] != FOLLOWER || empty(log) -> break
  od;
  replied_to_read(c)
}
/* A server refuses a client that has had replies which it cannot know of. Notifications do not count: servers
 * before 3.9 send them without a transaction id. */
#ifndef WITHOUT_REFUSAL
#define follower_accepts(c)  (behind[c] == 0)
#else
#define follower_accepts(c)  true
#endif
#else
inline replied_to_read(c) { skip }
inline replied_to_write(c) { skip }
#define follower_accepts(c)  false
#endif

/* After a reconnect the client's library arms its watches again. What is gone is notified at once. */
inline rearm_own(c) {
  if
  :: watches_own[c] && !(view(c) & BIT(own[c])) -> watches_own[c] = false; events[c]!own[c]
  :: else
  fi
}
inline rearm_watched(c) {
  if
  :: watched[c] && !(view(c) & BIT(watched[c])) -> events[c]!watched[c]; watched[c] = 0
  :: else
  fi
}
