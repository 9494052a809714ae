/* A lock that stays with its client, when several callers of that client want it: some wait in the process for the node that
 * is passed from caller to caller, some have a node of their own in line, while contenders of other sessions come.
 *
 * The node may be kept while a watched listing of this connection shows no other node, and its watch has not fired. Where
 * callers of the client wait the listing is made when one of them is granted the lock, never at a release: a contender of
 * another session would wait for its reply. The client's other nodes in line, the stand-ins of the callers that wait, are
 * deleted in front of that listing.
 *
 * As in hand_over.pml the holder hands over at once to the next node of its session; as in one_session.pml the session
 * hears late what its servers decide. What the threads of the callers do at the same time is in kept_lock.pml. */

#define NODES 12
#define highest(set) ((set) >= 4096 -> 12 : ((set) >= 2048 -> 11 : ((set) >= 1024 -> 10 : ((set) >= 512 -> 9 : \
                     ((set) >= 256 -> 8 : ((set) >= 128 -> 7 : ((set) >= 64 -> 6 : ((set) >= 32 -> 5 : \
                     ((set) >= 16 -> 4 : ((set) >= 8 -> 3 : ((set) >= 4 -> 2 : 1)))))))))))

#if defined(CONFIG_KEPT_LINE)            /* three callers, two contenders of other sessions, one of which gives up */
#define ARRIVALS 3
#define REMOTES 2
#define CANCELS 1
#elif defined(CONFIG_KEPT_LINE_BREAKS)   /* the connection breaks */
#define ARRIVALS 3
#define REMOTES 2
#define LOSSES 1
#elif defined(CONFIG_KEPT_LINE_ENDS)     /* a node is deleted by hand, the session runs out */
#define ARRIVALS 3
#define REMOTES 1
#define DELETIONS 1
#define CLOCKS 1
#elif defined(CONFIG_KEPT_LINE_TRY)      /* one caller more only tries, with a node of its own */
#define ARRIVALS 2
#define REMOTES 1
#define CANCELS 1
#define TRIES 2
#else
#error "name a configuration: -DCONFIG_KEPT_LINE, ..."
#endif

#ifndef LAG
#define LAG 6
#endif
#ifndef CANCELS
#define CANCELS 0
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#ifndef DELETIONS
#define DELETIONS 0
#endif
#ifndef CLOCKS
#define CLOCKS 0
#endif
#ifndef TRIES
#define TRIES 0
#endif

/* ---- the guards ---- */

#ifndef WITHOUT_LISTED_ALONE
#define must_be_alone true
#else
#define must_be_alone false
#endif
#ifndef WITHOUT_LISTING_REPLY
#define waits_for_the_reply true
#else
#define waits_for_the_reply false        /* a node is kept as soon as the listing is on its way */
#endif
#ifndef WITHOUT_FIRED
#define minds_the_watch true
#else
#define minds_the_watch false
#endif
#ifndef WITHOUT_LISTING_HERE
#define believes_this_connection_only true
#else
#define believes_this_connection_only false
#endif
#ifndef WITHOUT_OWN_FIRST
#define deletes_before_its_own_create true
#else
#define deletes_before_its_own_create false
#endif
#ifndef WITHOUT_OWN_FLAG
#define own_create_sets_the_flag true
#else
#define own_create_sets_the_flag false   /* the event of the own create does */
#endif
#ifndef WITHOUT_EARLIER_LISTING
#define own_create_ends_the_listing true
#else
#define own_create_ends_the_listing false
#endif
#ifndef WITHOUT_ONE_PASS
#define passes_once true
#else
#define passes_once false                /* however often, while somebody else is in line */
#endif

#include "one_session.pml"

byte losses = LOSSES, deletions = DELETIONS, cancels = CANCELS, clocks = CLOCKS, tries = TRIES;
byte arrivals = ARRIVALS;
byte remotes_left = REMOTES;
byte next = 1, last_grant;
short ours, apart;              /* nodes of the session; those among them of who only tries */
byte remote_holder;

/* ---- the session ---- */

/* FREE: no node of the session is known to be first. */
mtype = { FREE, HELD, IDLE };

mtype state = FREE;
byte own;                       /* the node that holds, or is idle */
byte waiting;                   /* callers */
short standing;                 /* their nodes in line */
bool creating;
byte born;                      /* by a create that is not answered yet */
byte fresh;                     /* created; and the listing that travelled with the create is not answered yet */
bool is_outrun;                 /* another create was sent behind that listing */
bool armed, wanted;             /* the watch; it has fired since the listing below */
bool missed;                    /* something, while there was no connection */
bool alone;                     /* a listing has shown no other node than `own` */
bool listing, has_listed;       /* at the grant; once for each node */
byte in_front;                  /* requests that travel in front of that listing */
bool has_passed;                /* the node, while somebody else may be in line */
bool clock_out, is_over;

byte passes[REMOTES];           /* since the session's server reported the node */
byte node_of[REMOTES];

bool trying;                    /* a create */
byte tried, try_holds;          /* its node; that node, while the caller works under the lock */

#define CREATE        16
#define TRY           17
#define has_room(n)   (len(unanswered) + (n) <= LAG && (!connected || len(log) + (n) <= LAG))
#define above(n)      (8190 & ~LOWER(n) & ~BIT(n))
#define next_of(n)    lowest(standing & above(n))
#define is_between(low, high)  (view & (~ours | apart) & above(low) & LOWER(high))
#define count_of(set) (((set) != 0 -> 1 : 0) + (((set) & ((set) - 1)) != 0 -> 1 : 0))   /* no more than two are needed */

inline create(mine, is_own) {
  promise(enough_nodes, next <= NODES);
  live = live | BIT(next);
  if :: is_own -> ours = ours | BIT(next); born = next :: else fi;
  decide(CREATED(next), mine);
  next++
}

inline send(check, what) {
  unanswered!check, what;
  if
  :: connected && check < CREATE -> check_and_delete(check, what)
  :: connected && check >= CREATE ->
     apart = apart | (check == TRY -> BIT(next) : 0);
     create(true, true)
  :: else
  fi
}

inline must_be_first(n) {
  promise(one_holder, !remote_holder || n == remote_holder || (excused & (BIT(remote_holder) | BIT(n))));
  promise(one_holder, state != HELD || n == own || (excused & (BIT(own) | BIT(n))));
  promise(one_holder, !try_holds || n == try_holds || (excused & (BIT(try_holds) | BIT(n))));
  promise(tokens_grow, n >= last_grant || (excused & BIT(n)));
  last_grant = (n > last_grant -> n : last_grant)
}

inline pass() {
  promise(nothing_is_kept, !is_over);
  must_be_first(own);
  state = HELD;
  for (i_ : 0 .. REMOTES - 1) {
    if
    :: node_of[i_] && (view & BIT(node_of[i_])) -> passes[i_]++; promise(served_soon, passes[i_] <= 1)
    :: else
    fi
  }
  i_ = 0
}

inline grant(n) {
  waiting--;
  must_be_first(n);
  own = n; state = HELD;
  alone = false; wanted = false; listing = false; in_front = 0; has_listed = false; has_passed = false;
  for (i_ : 0 .. REMOTES - 1) { passes[i_] = 0 }
  i_ = 0
}

inline drop() {
  state = FREE; own = 0; alone = false; wanted = false; listing = false; in_front = 0; has_listed = false; has_passed = false
}

inline lose(n) {
  if :: own == n && n -> drop() :: else fi;
  if :: try_holds == n -> try_holds = 0 :: else fi;
  standing = standing & ~BIT(n)
}

#define may_be_kept   ((alone || !must_be_alone || listing && !waits_for_the_reply) && !(wanted && minds_the_watch) && \
                       !clock_out)
#define needs_stand   ((waiting > 2 -> 2 : waiting) > count_of(standing) + creating + (fresh != 0 -> 1 : 0) && !clock_out && \
                       (state == FREE || !may_be_kept && !listing))

inline hear(t) {
  apply(t);
  if
  :: armed && t != REFUSED -> armed = false; wanted = true
  :: else
  fi
}

inline answered(t) {
  unanswered?check_, node_;
  if :: in_front > 0 -> in_front-- :: else fi;
  if
  :: check_ == CREATE -> creating = false; born = 0; fresh = t
  :: check_ == TRY -> trying = false; born = 0; tried = t
  :: check_ < CREATE && t == REFUSED ->
     /* The next one is notified before the node goes that shields it; which then shields the present holder. */
     promise(no_false_alarm, !(live & BIT(check_)));
     lose(check_);
     if
     :: state == HELD -> send(own, node_)
     :: else -> send(0, node_)
     fi
  :: else
  fi
}

proctype Session() {
  byte i, n;
  bool mine;

  do
  :: d_step { connected && nempty(log) ->
       log?t_, mine;
       hear(t_);
       if :: mine -> answered(t_) :: else fi;
       mine = false; forget()
     }

  /* ---- callers ---- */

  :: d_step { arrivals > 0 && !clock_out && has_room(1) ->
       arrivals--;
       if
       :: state == IDLE && may_be_kept -> pass()
       :: state == IDLE && !may_be_kept -> n = own; drop(); send(0, n); waiting++
       :: else -> waiting++
       fi;
       n = 0; forget()
     }
  :: d_step { cancels > 0 && waiting > 0 -> cancels--; waiting-- }
  /* The caller returns the lock. */
  :: atomic { state == HELD && has_room(1) ->
       if
       :: d_step { may_be_kept && waiting > 0 -> waiting--; pass() }
       :: d_step { may_be_kept && waiting == 0 -> state = IDLE }
       :: d_step { !may_be_kept && waiting > 0 && !clock_out && (!has_passed || !passes_once) ->
            waiting--; has_passed = true; pass() }
       :: d_step { !may_be_kept ->
            n = own;
            if
            :: waiting > 0 && (standing & above(n)) && !is_between(n, next_of(n)) && !clock_out ->
               i = next_of(n);
               standing = standing & ~BIT(i);
               /* No node, no shield. */
               excused = excused | (excused & BIT(n) -> BIT(i) : 0);
               state = FREE;
               grant(i);
               send(i, n)
            :: else -> drop(); send(0, n)
            fi;
            i = 0; n = 0
          }
       fi;
       forget()
     }

  /* ---- the strand ---- */

  :: d_step { needs_stand && !creating && !fresh && has_room(1) -> creating = true; is_outrun = false; send(CREATE, 0); forget() }

  /* The listing that travelled with the create. */
  :: d_step { fresh && connected && !clock_out ->
       n = fresh; fresh = 0;
       if
       :: !(view & BIT(n))
       :: else -> standing = standing | BIT(n)
       fi;
       if
       :: state == FREE && waiting > 0 && view == BIT(n) ->
          standing = standing & ~BIT(n);
          grant(n); has_listed = true; armed = true; alone = !is_outrun
       :: else
       fi;
       is_outrun = false; n = 0
     }
  /* First in line. */
  :: d_step { state == FREE && (standing & view) && connected && !clock_out && has_room(1) &&
              !(view & LOWER(lowest(standing & view))) ->
       n = lowest(standing & view);
       standing = standing & ~BIT(n);
       if
       :: waiting > 0 -> grant(n)
       :: else -> send(0, n)
       fi;
       n = 0; forget()
     }
  /* The listing at the grant, behind the deletes of the stand-ins. Whether it is worth it is up to the session. */
  :: d_step { state == HELD && !has_listed && connected && !clock_out && !(view & ~ours) && has_room(3) ->
       has_listed = true;
       n = 1;
       do
       :: n <= NODES ->
          if :: standing & BIT(n) -> send(0, n) :: else fi;
          n++
       :: else -> break
       od;
       standing = 0;
       listing = true; in_front = len(unanswered);
       n = 0; forget()
     }
  :: d_step { listing && in_front == 0 && connected ->
       listing = false; armed = true; wanted = false;
       alone = (view == BIT(own)) }

  /* Nor need it keep the node. */
  :: d_step { state == HELD && alone -> alone = false; has_listed = true }

  :: d_step { state == IDLE && wanted && minds_the_watch && has_room(1) -> n = own; drop(); send(0, n); n = 0; forget() }
  /* In the end it has been idle for long. */
  :: d_step { state == IDLE && !arrivals && !tries && !trying && !tried && remotes_left == 0 && has_room(1) ->
       n = own; drop(); send(0, n); n = 0; forget() }
  /* Stand-ins that nobody needs. */
  :: d_step { standing && !waiting && state == FREE && has_room(1) ->
       n = lowest(standing); standing = standing & ~BIT(n); send(0, n); n = 0; forget() }

  /* A listing, or the watch on the own node, tells that it is gone. */
  :: d_step { (standing & ~view) -> standing = standing & view }
  :: d_step { own && !(view & BIT(own)) -> promise(no_false_alarm, !(live & BIT(own))); drop() }
  :: d_step { try_holds && !(view & BIT(try_holds)) -> try_holds = 0 }

  /* ---- who only tries, with a node of its own ---- */

  :: d_step { tries > 0 && !trying && !tried && !try_holds && !clock_out && has_room(2) && connected ->
       tries--;
       if
       :: state == IDLE && deletes_before_its_own_create -> n = own; drop(); send(0, n)
       :: state != IDLE && own_create_sets_the_flag ->
          wanted = true;
          /* A listing that was sent before this create says nothing of it. */
          if :: own_create_ends_the_listing -> listing = false; is_outrun = creating || fresh :: else fi
       :: else
       fi;
       trying = true; send(TRY, 0);
       n = 0; forget()
     }
  :: d_step { tried && connected && has_room(1) ->
       n = tried; tried = 0;
       if
       :: view & LOWER(n) ->
          promise(declined_by_somebody, !(state == IDLE && (view & LOWER(n)) == BIT(own)));
          send(0, n)
       :: !(view & LOWER(n)) && (view & BIT(n)) -> must_be_first(n); try_holds = n
       :: else
       fi;
       n = 0; forget()
     }
  :: d_step { try_holds && has_room(1) -> n = try_holds; try_holds = 0; send(0, n); n = 0; forget() }

  /* ---- connections and sessions ---- */

  :: d_step { !connected && nempty(log) && !is_over -> log?t_, _; apply(t_); missed = missed || armed; t_ = 0 }
  :: d_step { !connected && len(log) + len(unanswered) <= LAG && !is_over ->
       connected = true;
       for (i : 1 .. len(unanswered)) {
         unanswered?check_, node_;
         if
         :: check_ == CREATE && born && (live & BIT(born)) -> unanswered!check_, node_; decide(CREATED(born), true)
         :: else -> send(check_, node_)
         fi
       }
       i = 0; forget()
     }
  /* The watch is armed again on a new connection. It fires if the servers see that it missed something; old ones do not. */
  :: d_step { missed && connected -> missed = false; armed = false; wanted = true }
  :: d_step { missed && connected -> missed = false; armed = false }

  :: d_step { clock_out && (waiting || own || standing || fresh || tried || try_holds || arrivals || tries) ->
       drop(); waiting = 0; standing = 0; fresh = 0; tried = 0; try_holds = 0; arrivals = 0; tries = 0 }

  :: d_step { !arrivals && !tries && !trying && !tried && !try_holds && !waiting && !own && !standing && !creating && !fresh &&
              (is_over || !clock_out && empty(unanswered)) ->
       end_session()
     } -> break
  od
}

/* ---- the others ---- */

proctype Remote(byte r) {
  byte node;

  d_step { nfull(log) -> node = next; node_of[r] = next; create(false, false) }
  do
  :: d_step { remote_holder != node && (live & BIT(node)) && !(live & LOWER(node)) -> must_be_first(node); remote_holder = node }
  :: d_step { remote_holder == node && nfull(log) ->
       remote_holder = 0;
       live = live & ~BIT(node); decide(DELETED(node), false) } -> break
  :: d_step { cancels > 0 && remote_holder != node && nfull(log) ->
       cancels--;
       live = live & ~BIT(node); decide(DELETED(node), false) } -> break
  od;
  atomic { remotes_left--; node_of[r] = 0; passes[r] = 0 }
}

proctype Fate() {
  byte n;

end:
  do
  :: d_step { losses > 0 && connected && !is_done ->
       losses--;
       break_connection();
       in_front = 0;
       has_passed = true;       /* Nor is this node passed on any more: see kept_lock.pml. */
       if :: believes_this_connection_only -> wanted = true; listing = false; armed = false :: else fi;
       forget()
     }
  :: atomic { deletions > 0 && nfull(log) && (live & ours) ->
       if
       :: n = lowest(live & ours)
       :: n = highest(live & ours)
       fi;
       d_step {
         deletions--;
         /* The node at the front is that of the holder, or shields it. */
         excused = excused | (live & LOWER(n) -> 0 : BIT(n) | BIT(own) | BIT(try_holds));
         live = live & ~BIT(n);
         decide(DELETED(n), false);
         n = 0
       }
     }
  :: d_step { clocks > 0 && !is_done && (own || waiting || standing) -> clocks--; clock_out = true }
  :: d_step { clock_out && state != HELD && !try_holds && !is_over ->
       is_over = true; connected = false; creating = false; trying = false;
       do :: nempty(log) -> log?_, _ :: empty(log) -> break od;
       do :: nempty(unanswered) -> unanswered?_, _ :: empty(unanswered) -> break od;
       live = live & ~ours
     }
  od
}

active proctype Quiescence() {
  d_step { is_done && remotes_left == 0 -> promise(no_orphan, live == 0) }
}

init {
  atomic {
    for (i_ : 0 .. REMOTES - 1) { run Remote(i_) }
    i_ = 0;
    run Session();
    run Fate()
  }
}
