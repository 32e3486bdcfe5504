using Corfu;
using Tango.Model;
using Tango.Playback;
using Tango.Records;

namespace Tango.Tests.Playback;

/// <summary>R20: the states of one commit record, and every transition between them.</summary>
public class CommitStateTests
{
    private static readonly RecordVersion s_commit = new(new LogPosition(10), 0);
    private static readonly RecordVersion s_decision = new(new LogPosition(20), 0);

    private static readonly TxOutcome.Aborted s_aborted = new(
        AbortReason.Conflict, new ObjectId(256), "read", ObjectKey.None, new RecordVersion(new LogPosition(5), 0));

    /// <summary>From, transition, and the state that follows; null: it is illegal.</summary>
    public static TheoryData<string, string, string?> Transitions => new()
    {
        { "Expected", "Meet", "Expected" },
        { "Expected", "BecomeLearnt", "Learnt" },
        { "Expected", "BecomeDecided", "Decided" },
        { "Expected", "BecomeSent", null },
        { "Expected", "BecomeUnsent", null },
        { "Expected", "BecomePlayed", "Played" },
        { "Learnt", "Meet", "Learnt" },
        { "Learnt", "BecomeLearnt", "Learnt" },
        // Playback decides no record that it has not met.
        { "Learnt", "BecomeDecided", null },
        { "Learnt", "BecomeSent", null },
        { "Learnt", "BecomeUnsent", null },
        { "Learnt", "BecomePlayed", "Played" },
        { "Learnt and met", "BecomeDecided", "Learnt" },
        { "Learnt and met", "BecomeSent", null },
        { "Decided", "Meet", "Decided" },
        { "Decided", "BecomeLearnt", "Decided" },
        { "Decided", "BecomeDecided", "Decided" },
        { "Decided", "BecomeSent", "Sent" },
        { "Decided", "BecomeUnsent", null },
        { "Decided", "BecomePlayed", "Played" },
        { "Sent", "Meet", "Sent" },
        { "Sent", "BecomeLearnt", "Sent" },
        { "Sent", "BecomeDecided", "Sent" },
        { "Sent", "BecomeSent", null },
        { "Sent", "BecomeUnsent", "Decided" },
        { "Sent", "BecomePlayed", "Played" },
        { "Played", "Meet", null },
        { "Played", "BecomeLearnt", null },
        { "Played", "BecomeDecided", null },
        { "Played", "BecomeSent", null },
        { "Played", "BecomeUnsent", null },
        { "Played", "BecomePlayed", null },
    };

    [Theory]
    [MemberData(nameof(Transitions))]
    public void Commit_record_in_a_state_moves_as_the_diagram_says(string from, string transition, string? to)
    {
        var commit = In(from, aborted: null);
        if (to is null)
        {
            var before = commit.State;
            Assert.Throws<InvalidOperationException>(() => Move(commit, transition));
            Assert.Equal(before, commit.State);
            return;
        }

        Move(commit, transition);
        Assert.Equal(to, commit.State.ToString());
        Assert.Equal(to is "Learnt" or "Decided" or "Sent", commit.HasOutcome);
        Assert.Equal(to is "Decided" or "Sent", commit.IsDecidedHere);
        Assert.True(commit.IsMet || to is "Learnt" or "Played");
        Assert.Null(commit.Aborted);
    }

    [Theory]
    [InlineData("Learnt and met")]
    [InlineData("Decided")]
    [InlineData("Sent")]
    public void Outcome_that_is_known_never_changes(string state)
    {
        var commit = In(state, s_aborted);
        var before = commit.State;
        Assert.Throws<TangoDivergenceException>(() => commit.BecomeDecided(null, 1));
        Assert.Equal((before, s_aborted), (commit.State, commit.Aborted));
        commit.BecomeLearnt(null, s_decision.Position);
        Assert.Equal((before, s_aborted), (commit.State, commit.Aborted));
        var divergence = Assert.Throws<TangoDivergenceException>(
            () => commit.BecomePlayed(new Decision(s_commit, null), s_decision));
        Assert.Equal((s_commit, false, s_decision), (divergence.Commit, divergence.CommittedHere, divergence.Decision));
    }

    [Fact]
    public void Decision_repeated_by_playback_keeps_the_first_time()
    {
        var commit = In("Decided", null);
        commit.BecomeDecided(null, 99);
        Assert.Equal(1, commit.DecidedAt);
    }

    [Fact]
    public void Decision_found_twice_ahead_is_remembered_to_the_later_place()
    {
        var commit = CommitState.NewLearnt(s_commit, null, new LogPosition(30));
        commit.BecomeLearnt(null, new LogPosition(20));
        Assert.Equal(new LogPosition(30), commit.LearntAt);
    }

    private static CommitState In(string state, TxOutcome.Aborted? aborted)
    {
        if (state == "Learnt") return CommitState.NewLearnt(s_commit, aborted, s_decision.Position);
        var commit = CommitState.NewExpected(s_commit, [new StreamId(256), new StreamId(257)]);
        if (state is "Learnt and met") commit.BecomeLearnt(aborted, s_decision.Position);
        if (state is "Decided" or "Sent") commit.BecomeDecided(aborted, 1);
        if (state is "Sent") commit.BecomeSent();
        if (state is "Played") commit.BecomePlayed(new Decision(s_commit, aborted), s_decision);
        return commit;
    }

    private static void Move(CommitState commit, string transition)
    {
        switch (transition)
        {
            case "Meet":
                commit.Meet([new StreamId(256), new StreamId(257)]);
                break;
            case "BecomeLearnt":
                commit.BecomeLearnt(null, s_decision.Position);
                break;
            case "BecomeDecided":
                commit.BecomeDecided(null, 2);
                break;
            case "BecomeSent":
                commit.BecomeSent();
                break;
            case "BecomeUnsent":
                commit.BecomeUnsent();
                break;
            default:
                commit.BecomePlayed(new Decision(s_commit, null), s_decision);
                break;
        }
    }
}
