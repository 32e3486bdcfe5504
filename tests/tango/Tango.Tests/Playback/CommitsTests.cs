using System.Collections.Immutable;
using Corfu;
using Tango.Checkpoints;
using Tango.Model;
using Tango.Playback;
using Tango.Records;

namespace Tango.Tests.Playback;

/// <summary>R20: the table of commit records that wait for their decision records.</summary>
public class CommitsTests
{
    private const int MaxSteps = 6;

    private static readonly RecordVersion s_commit = new(new LogPosition(10), 0);
    private static readonly RecordVersion s_decision = new(new LogPosition(20), 0);
    private static readonly ImmutableArray<StreamId> s_streams = [new(256), new(257)];

    private enum Step
    {
        Expect,
        Learn,
        DecideOwn,
        DecideOther,
        TakeOwn,
        TakeOrphans,
        NotSent,
        Play,
    }

    /// <summary>Each sequence of steps, beside what must be true of it: no outcome is forgotten, no decision is on its
    /// way twice, and nothing is left once the decision record is played.</summary>
    [Fact]
    public void Commit_record_in_every_sequence_of_steps_is_neither_forgotten_nor_sent_twice()
    {
        var steps = Enum.GetValues<Step>();
        var sequence = new Step[MaxSteps];
        var complete = 0;
        for (var number = 0; number < (int)Math.Pow(steps.Length, MaxSteps); number++)
        {
            for (var (i, rest) = (0, number); i < MaxSteps; i++, rest /= steps.Length)
                sequence[i] = steps[rest % steps.Length];
            if (TryRun(sequence)) complete++;
        }

        Assert.True(complete > 50_000, $"{complete} sequences are possible");
    }

    [Fact]
    public void Decision_published_by_another_host_is_handed_over_undecided()
    {
        var commits = new Commits();
        commits.Expect(s_commit, s_streams);
        commits.Learn(s_commit, null, s_decision.Position);
        Assert.True(Assert.Single(commits.AwaitedBy(s_streams.ToHashSet())).IsDecided);
        Assert.False(Assert.Single(commits.HandOver()).IsDecided);
    }

    [Fact]
    public void Decision_that_was_handed_over_is_published_by_the_next_playback_alone()
    {
        var (first, next) = (new Commits(), new Commits());
        first.Expect(s_commit, s_streams);
        first.Decide(s_commit, null, isOwn: false, now: 1);
        next.TakeOver(first.HandOver(), now: 5);
        Assert.False(first.HasDecided);
        Assert.Empty(first.TakeAll());
        Assert.Empty(next.TakeDecidedBy(4));
        Assert.Equal(s_commit, Assert.Single(next.TakeDecidedBy(5)).Commit);
    }

    [Fact]
    public void Decision_taken_over_that_differs_from_the_known_one_is_fatal()
    {
        var commits = new Commits();
        commits.Learn(s_commit, null, s_decision.Position);
        var aborted = new TxOutcome.Aborted(
            AbortReason.Conflict, new ObjectId(256), "read", ObjectKey.None, new RecordVersion(new LogPosition(5), 0));
        Assert.Throws<TangoDivergenceException>(
            () => commits.TakeOver([new AwaitedDecision(s_commit, s_streams, true, aborted)], 1));
        Assert.Throws<TangoDivergenceException>(commits.ThrowIfDiverged);
    }

    [Fact]
    public void Learnt_decision_of_a_record_that_was_met_is_not_forgotten()
    {
        var commits = new Commits();
        var other = new RecordVersion(new LogPosition(11), 0);
        commits.Expect(s_commit, s_streams);
        commits.Learn(s_commit, null, s_decision.Position);
        commits.Learn(other, null, s_decision.Position);
        commits.ForgetLearntBelow(s_decision.Position.Next);
        Assert.True(commits.TryGet(s_commit, out _));
        Assert.False(commits.TryGet(other, out _));
    }

    [Fact]
    public void Playback_that_has_ended_leaves_no_decision_behind()
    {
        var commits = new Commits();
        foreach (var index in Enumerable.Range(0, 3))
        {
            commits.Expect(new RecordVersion(s_commit.Position, index), s_streams);
            commits.Decide(new RecordVersion(s_commit.Position, index), null, isOwn: index == 1, now: 1);
        }

        Assert.Equal(1, Assert.Single(commits.TakeOwn()).Commit.Index);
        Assert.Equal([0, 2], commits.TakeAll().Select(static decided => decided.Commit.Index));
        // The appends of taken decisions may still fail: nothing here repeats them.
        commits.NotSent(new RecordVersion(s_commit.Position, 0));
        Assert.False(commits.HasDecided);
        Assert.Empty(commits.HandOver());
    }

    /// <returns>False: the sequence has a step that playback does not take.</returns>
    private static bool TryRun(Step[] sequence)
    {
        var commits = new Commits();
        var (isMet, isKnown, isDecided, isOnItsWay) = (false, false, false, false);
        foreach (var step in sequence)
        {
            switch (step)
            {
                case Step.Expect:
                    commits.Expect(s_commit, s_streams);
                    isMet = true;
                    break;
                case Step.Learn:
                    commits.Learn(s_commit, null, s_decision.Position);
                    isKnown = true;
                    break;
                case Step.DecideOwn or Step.DecideOther:
                    if (!isMet) return false;
                    commits.Decide(s_commit, null, step == Step.DecideOwn, now: 1);
                    isDecided |= !isKnown;
                    isKnown = true;
                    break;
                case Step.TakeOwn when commits.TakeOwn() is [var own]:
                    Assert.True(isDecided && !isOnItsWay && own.Commit == s_commit, Text(sequence));
                    isOnItsWay = true;
                    break;
                case Step.TakeOrphans:
                    Assert.Equal(isDecided && !isOnItsWay, commits.TakeDecidedBy(1) is [_]);
                    isOnItsWay |= isDecided;
                    break;
                case Step.NotSent:
                    commits.NotSent(s_commit);
                    isOnItsWay = false;
                    break;
                case Step.Play:
                    commits.OnDecisionRecord(new Decision(s_commit, null), s_decision);
                    (isMet, isKnown, isDecided, isOnItsWay) = (false, false, false, false);
                    Assert.Empty(commits.TakeAll());
                    break;
            }

            Assert.True(isKnown == commits.TryGet(s_commit, out _), Text(sequence));
            Assert.True(isDecided == commits.HasDecided, Text(sequence));
            Assert.True(isMet == commits.AwaitedBy(s_streams.ToHashSet()) is [_], Text(sequence));
        }

        return true;
    }

    private static string Text(Step[] sequence) => string.Join(", ", sequence);
}
