/* Readers of one client that share a node of a read/write lock, and a reader's node that stays, idle, when its last reader
 * has released it.
 *
 * A reader may join a node of its client while that stands behind every writer that is in line, whether the node holds the
 * lock or waits. The client knows that by a watched listing of this connection, for as long as the watch does not fire. A
 * writer of the client itself ends that knowledge when it is created, not by its event. When the watch fires the client
 * lists again, and keeps an idle node if no writer has come.
 *
 * A join is two steps of a caller's thread, under a mutex that the strand needs, too, to take a node from its slot. That
 * the knowledge has ended is a flag, which the strand sets without the mutex.
 *
 * As in one_session.pml the session hears late what its servers decide. Hand-over within the session is in
 * read_write_line.pml: a node with several readers is handed on like one with one. Here nodes are deleted plainly. */

#define NODES 8
#define SLOTS 2

#if defined(CONFIG_SHARED)                /* a writer of the session, and one elsewhere, which may give up */
#define READERS 3
#define WRITERS 1
#define REMOTES 1
#define CANCELS 1
#elif defined(CONFIG_SHARED_REMOTES)      /* a writer and a reader elsewhere; a connection breaks */
#define READERS 3
#define REMOTES 2
#define LOSSES 1
#elif defined(CONFIG_SHARED_CLOCK)        /* the session runs out */
#define READERS 3
#define REMOTES 1
#define SHARES 2
#define CLOCKS 1
#elif defined(CONFIG_SHARED_DOWNGRADE)    /* the writer of the session becomes a reader */
#define READERS 3
#define WRITERS 1
#define REMOTES 1
#define DOWNGRADES 1
#else
#error "name a configuration: -DCONFIG_SHARED, ..."
#endif

#define LAG 6
#ifndef SHARES
#define SHARES 3                /* acquires that one node may serve */
#endif
#ifndef WRITERS
#define WRITERS 0
#endif
#ifndef CANCELS
#define CANCELS 0
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#ifndef CLOCKS
#define CLOCKS 0
#endif
#ifndef DOWNGRADES
#define DOWNGRADES 0
#endif

/* ---- the guards ---- */

#ifndef WITHOUT_BEHIND_WRITERS
#define is_behind_writers(n)  ((n) > last_writer)
#else
#define is_behind_writers(n)  true       /* a node may be joined, whatever the listing shows */
#endif
#ifndef WITHOUT_READERS_WATCH
#define minds_the_watch true
#else
#define minds_the_watch false
#endif
#ifndef WITHOUT_SEEN_HERE
#define believes_this_connection_only true
#else
#define believes_this_connection_only false
#endif
#ifndef WITHOUT_LOOK_INSIDE
#define looks_under_the_mutex true
#else
#define looks_under_the_mutex false
#endif
#ifndef WITHOUT_OWN_WRITER
#define own_writer_ends_the_knowledge true
#else
#define own_writer_ends_the_knowledge false   /* its event does */
#endif
#ifndef WITHOUT_OUTRUN
#define own_writer_ends_the_listing true
#else
#define own_writer_ends_the_listing false
#endif
#ifndef WITHOUT_BESIDE
#define joins_no_downgrade true
#else
#define joins_no_downgrade false
#endif
#ifndef WITHOUT_LAST_HOLD
#define stays_for_the_last true
#else
#define stays_for_the_last false         /* the node goes with the first of its readers */
#endif
#ifndef WITHOUT_EVERY_HOLD
#define notifies_every_hold true
#else
#define notifies_every_hold false
#endif
#ifndef WITHOUT_SHARE_LIMIT
#define serves_no_more(s) (served[s] >= SHARES)
#else
#define serves_no_more(s) false
#endif
#ifndef WITHOUT_LISTED_AGAIN
#define lists_again true
#else
#define lists_again false                /* an idle reader's node stays when the watch fires */
#endif

#include "one_session.pml"

byte losses = LOSSES, cancels = CANCELS, clocks = CLOCKS, downgrades = DOWNGRADES;
byte readers_left = READERS, writers_left = WRITERS, remotes_left = REMOTES;
byte next = 1;
short writers, ours;            /* nodes */

/* Of the others: the nodes by which they hold. */
byte remote_write, remote_read;

/* ---- the session ---- */

/* FRESH: the listing that travelled with the create is not answered yet. */
mtype = { OUT, CREATING, FRESH, WAITS, HOLDS };

mtype phase[SLOTS] = OUT;       /* of its readers' nodes */
byte own[SLOTS];
byte holds[SLOTS];              /* callers that work with the node, or wait for it; none: it is idle */
byte served[SLOTS];
bool beside[SLOTS];             /* the node of a downgrade, whose writer is still there */

mtype writer = OUT;
byte own_writer;
byte late[2];                   /* readers that joined a node in front of it: of a remote writer, of the own one */
byte remote_writer;             /* its node, once it is reported */

bool armed, missed;
bool is_known;                  /* the listing below is as good as new */
byte last_writer;               /* in that listing */
bool listing, outrun[SLOTS];    /* under way; outrun: an own writer was created behind the one that is */
byte in_front;                  /* requests that travel in front of the listing */
byte lookers, target;           /* callers that have looked, and their node's slot */
byte born[4];                   /* by creates that are not answered yet */
bool clock_out, is_notified, is_over;

#define CREATE(s)      (16 + (s))
#define WRITER         2
#define DOWNGRADE      3
#define has_room(n)    (len(unanswered) + (n) <= LAG && (!connected || len(log) + (n) <= LAG))
#define in_line(s)     (phase[s] == WAITS || phase[s] == HOLDS)
#define may_join(s)    (in_line(s) && !serves_no_more(s) && is_known && is_behind_writers(own[s]) && \
                        !(beside[s] && joins_no_downgrade) && !clock_out)
#define newest         (own[0] > own[1] -> 0 : 1)
#define mutex_is_free  (lookers == 0)
#define is_idle(s)     (phase[s] == HOLDS && holds[s] == 0)

inline create(writes, is_own, mine) {
  promise(enough_nodes, next <= NODES);
  live = live | BIT(next);
  writers = writers | (writes -> BIT(next) : 0);
  ours = ours | (is_own -> BIT(next) : 0);
  decide(CREATED(next), mine);
  next = next + (writes && is_own && DOWNGRADES -> 2 : 1)
}

inline send(check, what) {
  unanswered!check, what;
  if
  :: connected && check < CREATE(0) -> check_and_delete(check, what)
  :: connected && check >= CREATE(0) && born[check - CREATE(0)] -> decide(CREATED(born[check - CREATE(0)]), true)
  :: connected && check == CREATE(DOWNGRADE) && !born[DOWNGRADE] ->
     born[DOWNGRADE] = own_writer + 1;
     live = live | BIT(own_writer + 1);
     ours = ours | BIT(own_writer + 1);
     decide(CREATED(own_writer + 1), true)
  :: connected && check >= CREATE(0) && check < CREATE(DOWNGRADE) && !born[check - CREATE(0)] ->
     born[check - CREATE(0)] = next;
     create(check == CREATE(WRITER), true, true)
  :: else
  fi
}

/* A caller of this session reads. Only the caller of a downgrade may do so beside its writer. */
inline may_read(s) {
  promise(one_holder, !remote_write && (writer != HOLDS || beside[s] && holds[s] <= 1))
}

inline leave(s) {
  node_ = own[s];
  phase[s] = OUT; own[s] = 0; holds[s] = 0; served[s] = 0; beside[s] = false;
  send(0, node_)
}

inline hear(t) {
  apply(t);
  if
  :: armed -> armed = false; is_known = is_known && !minds_the_watch
  :: else
  fi;
  if :: t < DELETED(0) && (writers & BIT(t) & ~ours) -> remote_writer = t; late[0] = 0 :: else fi
}

inline see_listing() {
  armed = true; is_known = true;
  set_ = view & writers;
  last_writer = (set_ -> highest(set_) : 0)
}

inline answered(t) {
  unanswered?check_, node_;
  if :: in_front > 0 -> in_front-- :: else fi;
  if
  :: check_ < CREATE(0)
  :: check_ == CREATE(WRITER) -> born[WRITER] = 0; own_writer = t; writer = WAITS
  :: check_ == CREATE(DOWNGRADE) ->
     born[DOWNGRADE] = 0;
     i_ = (phase[0] == OUT -> 0 : 1);
     own[i_] = t; phase[i_] = HOLDS; holds[i_] = 1; served[i_] = 1; beside[i_] = true
  :: check_ == CREATE(0) || check_ == CREATE(1) ->
     i_ = check_ - CREATE(0);
     born[i_] = 0; own[i_] = t; phase[i_] = FRESH
  fi
}

proctype Session() {
  byte i;
  bool mine;

  do
  :: d_step { connected && nempty(log) && !is_notified ->
       log?t_, mine;
       hear(t_);
       if :: mine -> answered(t_) :: else fi;
       mine = false; forget()
     }

  /* ---- the strand ---- */

  /* The listing that travelled with the create. */
  :: d_step { phase[0] == FRESH && connected && !clock_out ->
       phase[0] = WAITS; see_listing(); is_known = !outrun[0]; outrun[0] = false; set_ = 0 }
  :: d_step { phase[1] == FRESH && connected && !clock_out ->
       phase[1] = WAITS; see_listing(); is_known = !outrun[1]; outrun[1] = false; set_ = 0 }
  :: d_step { !armed && !listing && connected && !clock_out && lists_again && (in_line(0) || in_line(1)) ->
       listing = true; in_front = len(unanswered) }
  :: d_step { listing && in_front == 0 && connected -> listing = false; see_listing(); set_ = 0 }
  /* A listing has shown a writer, or is not worth it. */
  :: d_step { is_idle(0) && !may_join(0) && armed && mutex_is_free && has_room(1) -> leave(0); forget() }
  :: d_step { is_idle(1) && !may_join(1) && armed && mutex_is_free && has_room(1) -> leave(1); forget() }
  /* In the end it has been idle for long. */
  :: d_step { (is_idle(0) || is_idle(1)) && !readers_left && !writers_left && !remotes_left && mutex_is_free && has_room(1) ->
       if :: is_idle(0) -> leave(0) :: else -> leave(1) fi;
       forget() }

  /* ---- readers ---- */

  /* It looks under the mutex, */
  :: d_step { readers_left > 0 && may_join(newest) && (mutex_is_free || !looks_under_the_mutex && lookers < 2) ->
       readers_left--; lookers++; target = newest }
  /* and joins. */
  :: d_step { lookers > 0 ->
       lookers--;
       if
       :: in_line(target) && !serves_no_more(target) && !clock_out ->
          holds[target]++; served[target]++;
          promise(shares_are_bounded, served[target] <= SHARES);
          if :: phase[target] == HOLDS -> may_read(target) :: else fi;
          if
          :: remote_writer > own[target] && (view & BIT(remote_writer)) ->
             late[0]++;
             /* The bound is 1, not 0, for the flag may be set while the caller joins. */
             promise(served_soon, late[0] <= 1)
          :: else
          fi;
          if
          :: writer == CREATING || writer == WAITS && own_writer > own[target] ->
             late[1]++;
             promise(served_soon, late[1] <= 1)
          :: else
          fi
       :: else -> readers_left++
       fi;
       if :: !lookers -> target = 0 :: else fi
     }
  /* Or it has a node of its own. */
  :: d_step { readers_left > 0 && !clock_out && !(may_join(newest)) && (phase[0] == OUT || phase[1] == OUT) && has_room(1) &&
              phase[0] != CREATING && phase[1] != CREATING && !born[DOWNGRADE] ->
       readers_left--;
       i = (phase[0] == OUT -> 0 : 1);
       phase[i] = CREATING; holds[i] = 1; served[i] = 1; outrun[i] = false;
       send(CREATE(i), 0);
       i = 0; forget()
     }
  :: d_step { phase[0] == WAITS && connected && !clock_out && (view & BIT(own[0])) && !(view & LOWER(own[0]) & writers) ->
       phase[0] = HOLDS; may_read(0) }
  :: d_step { phase[1] == WAITS && connected && !clock_out && (view & BIT(own[1])) && !(view & LOWER(own[1]) & writers) ->
       phase[1] = HOLDS; may_read(1) }
  /* One of its callers releases it, or gives up. */
  :: d_step { mutex_is_free && phase[0] == HOLDS && holds[0] > 0 && has_room(1) ->
       holds[0]--;
       if
       :: holds[0] == 0 && !may_join(0) -> leave(0)
       :: holds[0] > 0 && !stays_for_the_last -> send(0, own[0])
       :: else
       fi;
       forget() }
  :: d_step { mutex_is_free && phase[1] == HOLDS && holds[1] > 0 && has_room(1) ->
       holds[1]--;
       if
       :: holds[1] == 0 && !may_join(1) -> leave(1)
       :: holds[1] > 0 && !stays_for_the_last -> send(0, own[1])
       :: else
       fi;
       forget() }
  :: d_step { cancels > 0 && mutex_is_free && phase[0] == WAITS && has_room(1) ->
       cancels--; holds[0]--;
       if :: holds[0] == 0 -> leave(0) :: else fi;
       forget() }
  :: d_step { beside[0] && !(view & BIT(own[0] - 1)) -> beside[0] = false }
  :: d_step { beside[1] && !(view & BIT(own[1] - 1)) -> beside[1] = false }

  /* ---- its writer ---- */

  /* Idle nodes are deleted in front of its create. */
  :: d_step { writers_left > 0 && writer == OUT && !clock_out && has_room(3) &&
              (mutex_is_free || !is_idle(0) && !is_idle(1)) ->
       writers_left--;
       writer = CREATING;
       if :: own_writer_ends_the_knowledge -> is_known = false :: else fi;
       /* What was listed before this create says nothing of it. */
       if
       :: own_writer_ends_the_listing ->
          listing = false;
          outrun[0] = phase[0] == CREATING || phase[0] == FRESH; outrun[1] = phase[1] == CREATING || phase[1] == FRESH
       :: else
       fi;
       if :: is_idle(0) -> leave(0) :: else fi;
       if :: is_idle(1) -> leave(1) :: else fi;
       send(CREATE(WRITER), 0);
       forget()
     }
  :: d_step { writer == WAITS && connected && !clock_out && (view & BIT(own_writer)) && !(view & LOWER(own_writer)) ->
       writer = HOLDS; late[1] = 0;
       promise(one_holder, !remote_write && !remote_read && !(phase[0] == HOLDS && holds[0]) && !(phase[1] == HOLDS && holds[1])) }
  :: d_step { writer == HOLDS && downgrades > 0 && (phase[0] == OUT || phase[1] == OUT) &&
              phase[0] != CREATING && phase[1] != CREATING && has_room(1) ->
       downgrades--;
       send(CREATE(DOWNGRADE), 0);
       forget() }
  :: d_step { writer == HOLDS && !born[DOWNGRADE] && has_room(1) ->
       writer = OUT;
       node_ = own_writer; own_writer = 0;
       send(0, node_);
       forget() }

  /* ---- connections and sessions ---- */

  :: d_step { !connected && nempty(log) && !is_over -> log?t_, _; i = armed; armed = false; hear(t_); armed = i; missed = missed || armed;
       i = 0; t_ = 0 }
  :: d_step { !connected && len(log) + len(unanswered) <= LAG && !is_over ->
       connected = true;
       for (i : 1 .. len(unanswered)) {
         unanswered?check_, node_;
         send(check_, node_)
       }
       i = 0; forget()
     }
  /* The watch is armed again on a new connection. It fires if the servers see that it missed something; old ones do not. */
  :: d_step { missed && connected -> missed = false; armed = false; is_known = false }
  :: d_step { missed && connected -> missed = false; armed = false }
  :: d_step { !connected && believes_this_connection_only && mutex_is_free && (is_idle(0) || is_idle(1)) && has_room(1) ->
       if :: is_idle(0) -> leave(0) :: else -> leave(1) fi;
       forget() }

  /* All who hold are notified before the servers end the session. */
  :: d_step { clock_out && !is_notified && mutex_is_free ->
       is_notified = true;
       readers_left = 0; writers_left = 0; writer = OUT; own_writer = 0;
       for (i : 0 .. SLOTS - 1) {
         if
         :: notifies_every_hold || phase[i] != HOLDS || holds[i] < 2 ->
            phase[i] = OUT; own[i] = 0; holds[i] = 0; served[i] = 0; beside[i] = false
         :: else -> holds[i] = 1
         fi
       }
       i = 0
     }

  :: d_step { !readers_left && !writers_left && !lookers && phase[0] == OUT && phase[1] == OUT && writer == OUT &&
              (is_over || !clock_out && empty(unanswered)) ->
       end_session()
     } -> break
  od
}

/* ---- the others ---- */

proctype Remote(bool writes_) {
  byte node;

  d_step { nfull(log) -> node = next; create(writes_, false, false) }
  do
  :: d_step { remote_write != node && remote_read != node && !(live & LOWER(node) & (writes_ -> 511 : writers)) ->
       promise(one_holder, writer != HOLDS && (!writes_ || !(phase[0] == HOLDS && holds[0]) && !(phase[1] == HOLDS && holds[1])));
       if :: writes_ -> remote_write = node :: else -> remote_read = node fi
     }
  :: d_step { (remote_write == node || remote_read == node || cancels > 0) && nfull(log) ->
       if
       :: remote_write == node -> remote_write = 0
       :: remote_read == node -> remote_read = 0
       :: else -> cancels--
       fi;
       live = live & ~BIT(node); decide(DELETED(node), false) } -> break
  od;
  atomic { remotes_left--; node = 0 }
}

proctype Fate() {
end:
  do
  :: d_step { losses > 0 && connected && !is_done ->
       losses--;
       break_connection();
       in_front = 0;
       if :: believes_this_connection_only -> is_known = false; listing = false; armed = false :: else fi;
       forget()
     }
  :: d_step { clocks > 0 && !is_done -> clocks--; clock_out = true }
  /* The holders have been notified. */
  :: d_step { is_notified && !is_over ->
       is_over = true; connected = false;
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
    run Remote(true);
    if :: REMOTES == 2 -> run Remote(false) :: else fi;
    run Session();
    run Fate()
  }
}
