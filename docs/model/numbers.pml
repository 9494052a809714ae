/* The neighbour by number. A sequential node bears the count of the creates in its parent, so nobody was ever created
 * between N and N + 1. A contender with the number behind that of a contender of its own client waits for that one without
 * a listing, and has the place when that one hands it on.
 *
 * The parent is a container. When it is empty the servers may remove it; the next create makes it anew, and the numbers
 * begin again. So the parent is watched: its end is reported before the reply to any create in the new one. */

#define NODES 6        /* in the order of their creation, whatever the numbers in their names */

#include "line_configurations.pml"
#include "one_session.pml"

byte losses = LOSSES, cancels = CANCELS, deletions = 1, removals = 1;
byte unsettled = 3;             /* the session, and two remote contenders */
byte last_grant;

byte next = 1;
bool parent;
byte base;                      /* how many had been created when the parent was removed; 0: it has not been */
byte remote_holder;
byte begun;                     /* of the remote ones */

#define number(n)    ((n) > base -> (n) - base : (n))

inline create(mine) {
  promise(enough_nodes, next <= NODES);
  live = live | BIT(next);
  parent = true;
  decide(CREATED(next), mine);
  next++
}

/* ---- the session ---- */

mtype = { OUT, CREATING, LIST, BEHIND, WAIT, HOLDS, LEFT };

mtype phase[OWN] = OUT;
byte own[OWN];
byte bears[OWN];                /* nodes with its uuid */
bool in_doubt[OWN];             /* a create was sent twice */
byte nearest[OWN];              /* it waits for this node of somebody else's */
byte behind[OWN] = OWN;         /* or for this contender */
byte heir[OWN] = OWN;           /* who has its place; OWN: nobody */
byte view_parent;               /* 0: there is none; else the first or the second */
byte armed;                     /* the parent that is watched */
byte seen;                      /* contenders whose nodes were seen since the watch was armed */

#define CREATE(c)    (16 + (c))
#define all_left     (phase[0] == LEFT && phase[1] == LEFT && phase[OWN - 1] == LEFT)
#define in_line(c)   (own[c] != 0 && phase[c] != LEFT)

/* To delete a node, or to create one. */
inline send(check, node) {
  unanswered!check, node;
  if
  :: connected && check >= CREATE(0) ->
     bears[check - CREATE(0)] = bears[check - CREATE(0)] | BIT(next);
     create(true)
  :: connected && check < CREATE(0) -> check_and_delete(check, node)
  :: else
  fi
}

inline grant(c) {
  for (j_ : 0 .. OWN - 1) { promise(one_holder, phase[j_] != HOLDS || (excused & BIT(own[j_]))) }
  promise(one_holder, !remote_holder || (excused & (BIT(remote_holder) | BIT(own[c]))));
  promise(tokens_grow, own[c] > last_grant || (excused & BIT(own[c])));
  last_grant = (own[c] > last_grant -> own[c] : last_grant);
  phase[c] = HOLDS
}

/* Those behind: behind the one in front from now on, if that is in line; else they look again. */
inline leave(c) {
  for (i_ : 0 .. OWN - 1) {
    if
    :: phase[i_] == BEHIND && behind[i_] == c && phase[c] == BEHIND && in_line(behind[c]) -> behind[i_] = behind[c]
    :: phase[i_] == BEHIND && behind[i_] == c && !(phase[c] == BEHIND && in_line(behind[c])) ->
       phase[i_] = LIST; behind[i_] = OWN
    :: else
    fi
  }
  phase[c] = LEFT; behind[c] = OWN; nearest[c] = 0; leaving = leaving | BIT(own[c])
}

inline disarm() { armed = 0; seen = 0 }

inline told(t) {
  apply(t);
  if
  :: t == GONE -> view_parent = 0
  :: t < DELETED(0) -> view_parent = (base != 0 && t > base -> 2 : 1)
  :: else
  fi
}

/* It is in line now. Of those with the number before its own, the one that is of this parent. */
inline created(c, n) {
  own[c] = n;
  phase[c] = LIST;
  for (i_ : 0 .. OWN - 1) {
    if
    :: i_ != c && in_line(i_) && follows(n, own[i_]) && (behind[c] == OWN || own[i_] > own[behind[c]]) &&
       (armed && was_seen_since_arming(i_) || !watches_the_parent) ->
       behind[c] = i_; phase[c] = BEHIND
    :: else
    fi
  }
  seen = seen | (armed -> BIT(c) : 0)
}

inline answered(t) {
  unanswered?check_, node_;
  if
  :: check_ >= CREATE(0) ->
     n_ = check_ - CREATE(0);
     if :: in_doubt[n_] -> phase[n_] = LIST :: else -> created(n_, t) fi
  :: check_ < CREATE(0) && t == REFUSED ->
     promise(no_false_alarm, !(live & BIT(check_)));
     n_ = 0;
     do :: own[n_] != check_ -> n_++ :: else -> break od;
     /* Notified before the node goes that shields it; which then shields the present owner of the place. */
     if :: phase[n_] != LEFT -> leave(n_) :: else fi;
     do :: n_ < OWN && phase[n_] == LEFT -> n_ = heir[n_] :: else -> break od;
     if :: n_ < OWN -> send(own[n_], node_) :: else -> send(0, node_) fi
  :: else
  fi
}

proctype Session() {
  byte i;
  bool mine;

  do
  :: d_step { connected && nempty(log) ->
       log?t_, mine;
       told(t_);
       if :: t_ == GONE -> disarm() :: else fi;
       if :: mine -> answered(t_) :: else fi;
       mine = false; forget()
     }

  :: d_step { connected && watches_the_parent && !armed && view_parent -> armed = view_parent }

  :: d_step { !connected && nempty(log) -> log?t_, _; told(t_); t_ = 0 }
  /* The library arms its watches again: deletions are reported, and what was written since. */
  :: d_step { !connected && len(log) + len(unanswered) <= LAG ->
       connected = true;
       if :: armed && (!view_parent || view_parent != armed && servers_compare_mzxid) -> disarm() :: else fi;
       for (i : 1 .. len(unanswered)) {
         unanswered?check_, node_;
         if :: check_ >= CREATE(0) -> in_doubt[check_ - CREATE(0)] = true :: else fi;
         send(check_, node_)
       }
       i = 0; forget()
     }

  :: d_step { all_left && empty(unanswered) ->
       unsettled--;
       end_session(); view_parent = 0; disarm()
     } -> break
  od
}

proctype Contender(byte c) {
  byte next_one = OWN;

  d_step { (c == 0 || phase[c - (c > 0 -> 1 : 0)] != OUT) && can_send -> phase[c] = CREATING; send(CREATE(c), 0) }

  do
  /* Of several nodes the lowest is kept. A node that is not listed any more was deleted by hand. */
  :: d_step { phase[c] == LIST && connected && own[c] == 0 && can_send ->
       set_ = view & bears[c];
       own[c] = (set_ -> lowest(set_) : 0);
       set_ = set_ & ~BIT(own[c]);
       leaving = leaving | set_;
       if :: set_ -> n_ = highest(set_); send(0, n_) :: else fi;
       if :: !own[c] -> phase[c] = LEFT :: else fi;
       forget()
     }
  :: d_step { phase[c] == LIST && connected && (view & BIT(own[c])) && own[c] != 0 &&
              ((view & LOWER(own[c]) & ~leaving) || !(view & LOWER(own[c])) || !waits_until_seen_gone) ->
       for (j_ : 0 .. OWN - 1) {
         if :: armed && own[j_] && (view & BIT(own[j_])) -> seen = seen | BIT(j_) :: else fi
       }
       set_ = view & LOWER(own[c]) & ~leaving;
       if
       :: set_ == 0 -> grant(c)
       :: else ->
          n_ = highest(set_);
          do :: i_ < OWN && !(in_line(i_) && own[i_] == n_) -> i_++ :: else -> break od;
          if
          :: i_ < OWN -> phase[c] = BEHIND; behind[c] = i_
          :: else -> phase[c] = WAIT; nearest[c] = n_
          fi
       fi;
       forget()
     }
  :: d_step { phase[c] == WAIT && connected && !(view & BIT(nearest[c])) -> phase[c] = LIST; nearest[c] = 0 }

  /* By the watch on the node, a listing, or the check of the leases: early or late. */
  :: d_step { in_line(c) && !(view & BIT(own[c])) ->
       promise(no_false_alarm, !(live & BIT(own[c])));
       leave(c); forget()
     } -> break

  :: atomic { phase[c] == HOLDS && can_send ->
       if
       :: phase[0] == BEHIND && behind[0] == c -> next_one = 0
       :: phase[1] == BEHIND && behind[1] == c -> next_one = 1
       :: phase[OWN - 1] == BEHIND && behind[OWN - 1] == c -> next_one = OWN - 1
       :: else
       fi;
       d_step {
         if :: next_one < OWN -> phase[next_one] = LIST :: else fi;
         leave(c);
         heir[c] = next_one;
         if
         :: next_one < OWN -> behind[next_one] = OWN; grant(next_one); send(own[next_one], own[c])
         :: else -> send(0, own[c])
         fi;
         next_one = OWN; forget()
       }
     } -> break

  /* The caller of one that waits gives up. */
  :: d_step { cancels > 0 && (phase[c] == BEHIND || phase[c] == WAIT) && can_send ->
       cancels--;
       leave(c); send(0, own[c]); forget()
     } -> break

  :: phase[c] == LEFT -> break
  od
}

/* ---- the others ---- */

proctype Remote(byte turn) {
  byte node;

  d_step { nfull(log) && begun == turn -> begun++; node = next; create(false) }
  do
  :: d_step { remote_holder != node && (live & BIT(node)) && !(live & LOWER(node)) ->
       for (i_ : 0 .. OWN - 1) { promise(one_holder, phase[i_] != HOLDS || (excused & BIT(own[i_]))) }
       promise(one_holder, !remote_holder || (excused & BIT(remote_holder)));
       promise(tokens_grow, node > last_grant);
       last_grant = node; remote_holder = node; forget()
     }
  :: d_step { remote_holder == node && nfull(log) ->
       remote_holder = 0;
       live = live & ~BIT(node);
       decide(DELETED(node), false)
     }
  :: d_step { remote_holder != node && !(live & BIT(node)) -> unsettled-- } -> break
  od
}

proctype Fate() {
  byte node;

end:
  do
  :: d_step { losses > 0 && connected ->
       losses--; break_connection();
       if :: arms_on_every_connection -> disarm() :: else fi;
       forget()
     }
  :: d_step { removals > 0 && parent && !live && nfull(log) ->
       removals--; parent = false; base = next - 1;
       decide(GONE, false)
     }
  :: atomic { deletions > 0 && nfull(log) && (live & (bears[0] | bears[1] | bears[OWN - 1])) ->
       if
       :: live & bears[0] -> node = lowest(live & bears[0])
       :: live & bears[1] -> node = lowest(live & bears[1])
       :: live & bears[OWN - 1] -> node = lowest(live & bears[OWN - 1])
       fi;
       d_step {
         deletions--;
         excused = excused | (live & LOWER(node) -> 0 : BIT(node));
         live = live & ~BIT(node);
         decide(DELETED(node), false);
         node = 0
       }
     }
  od
}

active proctype Quiescence() {
  d_step { unsettled == 0 -> promise(no_orphan, live == 0) }
}

init {
  atomic {
    for (i_ : 0 .. OWN - 1) { run Contender(i_) }
    i_ = 0;
    run Remote(0); run Remote(1);
    run Session(); run Fate()
  }
}
