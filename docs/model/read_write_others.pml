/* Of read_write_line.pml: the remote contenders, what befalls the session, and who stands where. */

proctype Remote(byte r, node) {
  bool writes_, may_leave_a_reader = REMOTE_DOWNGRADES && r == 0;
  byte read_node;

  d_step { writes_ = (writers & BIT(node)) != 0; may_leave_a_reader = may_leave_a_reader && writes_ }
  do
  :: d_step { !remote_read[r] && !remote_write[r] && (live & BIT(node)) &&
              !(live & LOWER(node) & (writes_ -> 511 : writers)) ->
       must_be_alone(node, writes_);
       if :: writes_ -> remote_write[r] = node :: else -> remote_read[r] = node fi
     }
  :: d_step { remote_write[r] && may_leave_a_reader && nfull(log) ->
       may_leave_a_reader = false;
       read_node = node + 1;
       live = live | BIT(read_node);
       decide(CREATED(read_node), false)
     }
  :: d_step { (remote_read[r] || remote_write[r]) && nfull(log) ->
       live = live & ~BIT(node);
       decide(DELETED(node), false);
       remote_write[r] = 0;
       remote_read[r] = read_node;
       node = read_node; read_node = 0; writes_ = false
     }
  :: d_step { !node -> unsettled-- } -> break
  od
}

/* One of the line stands in front, and its delete is to check this one. */
#define stands(p)       (live & BIT(own[p]) & 510)
#define answers(p, m)   (!in_line(p) && heir[p] == m && stands(p))
#define is_shielded(m)  (behind[m] != NOBODY && stands(behind[m]) || \
                         answers(0, m) || answers(1, m) || answers(2, m) || answers(3, m))

proctype Fate() {
  byte node, m;

end:
  do
  :: d_step { losses > 0 && connected && !is_done ->
       losses--;
       break_connection();
       for (i_ : 0 .. 2) { alone[i_] = false }
       forget()
     }
  :: atomic { deletions > 0 && nfull(log) && (live & ours) ->
       if
       :: live & BIT(own[0]) -> node = own[0]; m = 0
       :: live & BIT(own[1]) -> node = own[1]; m = 1
       :: live & BIT(own[2]) -> node = own[2]; m = 2
       :: own[3] && (live & BIT(own[3])) -> node = own[3]; m = 3
       :: else -> node = highest(live & ours); m = 3
       fi;
       d_step {
         deletions--;
         /* Nobody in front excludes it, and none of the line answers for it: nobody can tell it in time. */
         if
         :: live & LOWER(node) & (is_writer(m) -> 511 : writers)
         :: else -> excused = excused | (is_shielded(m) -> 0 : BIT(node))
         fi;
         live = live & ~BIT(node);
         decide(DELETED(node), false);
         node = 0; m = 0
       }
     }
  od
}

active proctype Quiescence() {
  d_step { unsettled == 0 -> promise(no_orphan, live == 0) }
}

init {
  byte m, r, node = 1;

  atomic {
    /* Who stands where, and which of the remote ones write. */
    do
    :: m < MEMBERS ->
       own[m] = node; phase[m] = LOOK;
       ours = ours | BIT(node);
       writers = writers | (writes(m) -> BIT(node) : 0);
       node = node + (may_downgrade(m) -> 2 : 1);
       m++
    :: r < 2 && (r == 0 && may_stand(m) || m == MEMBERS) ->
       if :: writers = writers | BIT(node) :: true fi;
       nearest[r] = node;
       node = node + (REMOTE_DOWNGRADES && r == 0 -> 2 : 1);
       r++
    :: m == MEMBERS && r == 2 -> break
    od;
    promise(enough_nodes, node <= NODES + 1);
    for (i_ : 0 .. MEMBERS - 1) { live = live | BIT(own[i_]); run Member(i_) }
    run Member(ADDED);
    live = live | BIT(nearest[0]) | BIT(nearest[1]);
    view = live;
    run Remote(0, nearest[0]); nearest[0] = 0;
    run Remote(1, nearest[1]); nearest[1] = 0;
    i_ = 0; m = 0; r = 0; node = 0;
    run Session();
    run Fate()
  }
}
