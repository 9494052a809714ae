/* The line of one client's readers and writers, while contenders of other sessions stand among them. A member
 * with its neighbour in the line needs no listing: what it waits for is known here. A holder may be `clear`: nobody at all is in
 * front. If it is not, remote readers may be.
 *
 * All nodes are there from the start: those of three members, of a remote contender anywhere and of one behind all. */

#define NODES   8      /* in the order of the queue: the read node of a downgrade comes right behind its writer's */
#define MEMBERS 3
#define ADDED   3      /* the member that a downgrade adds */
#define NOBODY  4
#define may_downgrade(m) (DOWNGRADES && m == 0)

#include "line_configurations.pml"
#include "one_session.pml"

byte losses = LOSSES, deletions = 1, cancels = CANCELS, downgrades = DOWNGRADES;
byte unsettled = 3;             /* the session, and two remote contenders */

short writers, ours;            /* nodes */
byte remote_read[2], remote_write[2];    /* nodes under whose lock a remote caller works */

/* ---- the line ---- */

/* NEXT: first, as soon as the check of its node has been answered. */
mtype = { LOOK, BEHIND, WAIT, NEXT, HOLDS, LEFT };

mtype phase[5] = LEFT;
byte own[5];
byte behind[5] = NOBODY;        /* its neighbour in front, in the line */
byte nearest[4];                /* or of a remote one, if it waits for that */
bool alone[4];                  /* and nobody else is in front */
bool clear[4];
byte heir[5] = NOBODY;          /* who has its place */
byte downgrading = NOBODY;      /* has asked for its read node */

/* To create a read node beside that of the writer. */
#define CREATE(n)    (16 + (n))
#define in_line(m)   (phase[m] != LEFT)
#define is_writer(m) (writers & BIT(own[m]))

inline send(check, node) {
  unanswered!check, node;
  if
  :: connected && node < CREATE(0) -> check_and_delete(check, node)
  :: connected && node > CREATE(0) && !(live & BIT(check)) -> decide(REFUSED, true)
  :: connected && node > CREATE(0) && (live & BIT(check)) ->
     live = live | BIT(node - CREATE(0));
     ours = ours | BIT(node - CREATE(0));
     decide(CREATED(node - CREATE(0)), true)
  :: else
  fi
}

/* Those who work under the lock and exclude this node's, or would. A writer that downgrades does not exclude itself. */
inline must_be_alone(node, writing) {
  for (j_ : 0 .. 3) {
    promise(one_holder, phase[j_] != HOLDS || own[j_] == node || own[j_] + 1 == node && own[ADDED] == node ||
            !(writing) && !is_writer(j_) || (excused & (BIT(own[j_]) | BIT(node))))
  }
  for (j_ : 0 .. 1) {
    promise(one_holder, (remote_write[j_] == 0 || remote_write[j_] == node || (excused & BIT(node))) &&
                        (!(writing) || remote_read[j_] == 0 || (excused & BIT(node))))
  }
  j_ = 0
}

inline grant(m) {
  must_be_alone(own[m], is_writer(m));
  phase[m] = HOLDS;
  nearest[m] = 0; alone[m] = false
}

#define lets_readers_in(m)  (phase[m] == HOLDS && !is_writer(m) && \
                             !(behind[m] != NOBODY && is_writer(behind[m]) && readers_wait_for_the_writer))

/* A reader behind a reader that holds. */
inline let_readers_in() {
  k_ = 0;
  do
  :: k_ < 4 ->
     if
     :: phase[k_] == BEHIND && !is_writer(k_) && lets_readers_in(behind[k_]) -> grant(k_); k_ = 0
     :: else -> k_++
     fi
  :: else -> break
  od;
  k_ = 0
}

/* Those behind get its neighbour, or its place, or look again. In `n_`: whose node is to be checked. */
inline leave(m, in_order) {
  n_ = NOBODY;
  for (i_ : 0 .. 3) {
    if
    :: in_line(i_) && behind[i_] == m ->
       if
       :: behind[m] != NOBODY && (waits_for_earlier_readers || !(in_order)) -> behind[i_] = behind[m]
       :: else ->
          behind[i_] = NOBODY;
          if
          :: (in_order) && phase[m] == HOLDS && (clear[m] || !asks_whether_clear || behind[m] != NOBODY) ->
             clear[i_] = true;
             n_ = (checks_readers || phase[i_] != HOLDS -> i_ : n_);
             if
             :: phase[i_] != HOLDS && is_writer(i_) && !is_writer(m) && writers_wait_for_the_check -> phase[i_] = NEXT
             :: phase[i_] != HOLDS && !(is_writer(i_) && !is_writer(m) && writers_wait_for_the_check) ->
                phase[m] = LEFT; grant(i_)
             :: else
             fi
          :: else ->
             if
             :: phase[i_] == HOLDS ->
                clear[i_] = false;
                n_ = (checks_readers -> i_ : n_)
             :: else -> phase[i_] = LOOK
             fi
          fi
       fi
    :: else
    fi
  }
  heir[m] = n_;
  phase[m] = LEFT; behind[m] = NOBODY; nearest[m] = 0; alone[m] = false; clear[m] = false;
  leaving = leaving | BIT(own[m]);
  let_readers_in();
  i_ = 0
}

inline leave_and_delete(m) {
  leave(m, true);
  if :: n_ != NOBODY -> send(own[n_], own[m]) :: else -> send(0, own[m]) fi;
  n_ = 0
}

/* The read node stands between its writer and the contender that was behind that. */
inline downgraded(node) {
  own[ADDED] = node;
  i_ = 0;
  do :: i_ < 3 && own[i_] + 1 != node -> i_++ :: else -> break od;
  if
  :: in_line(i_) ->
     n_ = i_;
     for (i_ : 0 .. 2) {
       if :: in_line(i_) && behind[i_] == n_ && read_node_is_in_line -> behind[i_] = ADDED :: else fi
     }
     behind[ADDED] = (read_node_is_in_line -> n_ : NOBODY);
     grant(ADDED)
  :: else ->
     leaving = leaving | BIT(node);
     send(0, node)
  fi
}

inline answered(t) {
  unanswered?check_, node_;
  if :: node_ > CREATE(0) -> downgrading = NOBODY :: else fi;
  if
  :: t != REFUSED && node_ > CREATE(0) -> downgraded(node_ - CREATE(0))
  :: t == REFUSED ->
     promise(no_false_alarm, !(live & BIT(check_)));
     t_ = 0;
     do :: own[t_] != check_ -> t_++ :: else -> break od;
     /* Notified before the node goes that shields it; which then shields the present owner of the place. */
     if :: in_line(t_) -> leave(t_, false) :: else fi;
     if
     :: node_ > CREATE(0) -> send(0, node_ - CREATE(0)); leaving = leaving | BIT(node_ - CREATE(0))
     :: else ->
        do :: t_ != NOBODY && !in_line(t_) -> t_ = heir[t_] :: else -> break od;
        if
        :: t_ != NOBODY && (phase[t_] == HOLDS || phase[t_] == NEXT) -> send(own[t_], node_)
        :: else -> send(0, node_)
        fi
     fi
  :: t != REFUSED && node_ < CREATE(0) && check_ ->
     n_ = 0;
     do :: own[n_] != check_ -> n_++ :: else -> break od;
     if :: phase[n_] == NEXT -> grant(n_); let_readers_in() :: else fi
  :: else
  fi
}

proctype Session() {
  byte i;
  bool mine;

  do
  :: d_step { connected && nempty(log) ->
       log?t_, mine;
       apply(t_);
       if :: mine -> answered(t_) :: else fi;
       mine = false; forget()
     }
  :: d_step { !connected && nempty(log) -> log?t_, _; apply(t_); t_ = 0 }
  :: d_step { !connected && len(log) + len(unanswered) <= LAG ->
       connected = true;
       for (i : 1 .. len(unanswered)) {
         unanswered?check_, node_;
         send(check_, node_)
       }
       i = 0; forget()
     }
  :: d_step { !in_line(0) && !in_line(1) && !in_line(2) && !in_line(3) && empty(unanswered) ->
       unsettled--;
       end_session()
     } -> break
  od
}

#define in_front(m)     (view & LOWER(own[m]))
#define in_front_of(m)  (is_writer(m) -> in_front(m) : in_front(m) & writers)

proctype Member(byte m) {
  m != ADDED || in_line(m) || is_done;
  do
  :: d_step { phase[m] == LOOK && connected && (view & BIT(own[m])) &&
              (!in_front_of(m) || (in_front_of(m) & ~leaving) || !waits_until_seen_gone) ->
       for (t_ : 0 .. 3) {
         if :: tells_the_missing && in_line(t_) && !(view & BIT(own[t_])) -> leave(t_, false) :: else fi
       }
       set_ = in_front(m) & ~leaving;
       if
       :: set_ ->
          n_ = highest(set_);
          i_ = 0;
          do :: i_ < 4 && !(in_line(i_) && own[i_] == n_) -> i_++ :: else -> break od;
          behind[m] = i_
       :: else
       fi;
       if
       :: !(in_front_of(m) & ~leaving) -> clear[m] = !in_front(m) || !waits_until_seen_gone && !set_; grant(m)
       :: else ->
          if
          :: behind[m] != NOBODY -> phase[m] = BEHIND
          :: else ->
             set_ = in_front_of(m) & ~leaving;
             phase[m] = WAIT; nearest[m] = highest(set_);
             alone[m] = in_front(m) == BIT(nearest[m])
          fi
       fi;
       let_readers_in();
       forget()
     }

  /* On one connection events come in the order of the changes. A writer may have left a reader in front. */
  :: d_step { phase[m] == WAIT && connected && !(view & BIT(nearest[m])) && (view & BIT(own[m])) ->
       if
       :: alone[m] && !(is_writer(m) && (writers & BIT(nearest[m]))) ->
          clear[m] = !(writers & BIT(nearest[m])) || !writers_may_leave_readers;
          grant(m);
          let_readers_in()
       :: else -> phase[m] = LOOK; nearest[m] = 0; alone[m] = false
       fi;
       forget()
     }

  :: d_step { in_line(m) && !(view & BIT(own[m])) ->
       promise(no_false_alarm, !(live & BIT(own[m])));
       leave(m, false); forget()
     }

  :: d_step { phase[m] == HOLDS && can_send && downgrades > 0 && is_writer(m) && may_downgrade(m) ->
       downgrades--;
       downgrading = m;
       send(own[m], CREATE(own[m] + 1))
     }

  :: d_step { phase[m] == HOLDS && can_send && downgrading != m ->
       leave_and_delete(m); forget()
     }

  :: d_step { cancels > 0 && (phase[m] == BEHIND || phase[m] == WAIT || phase[m] == NEXT) && can_send ->
       cancels--;
       leave_and_delete(m); forget()
     }

  :: !in_line(m) -> break
  od
}

#include "read_write_others.pml"
