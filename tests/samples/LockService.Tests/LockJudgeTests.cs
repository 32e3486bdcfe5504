using LockServiceSample.Run;

namespace LockServiceSample.Tests;

/// <summary>The judge of a run finds each history that breaks the promise of fencing tokens.</summary>
public sealed class LockJudgeTests
{
    private static readonly LockEvent[] s_right =
    [
        new LockEvent.Acquired("a", 1), new LockEvent.Wrote("a", 1, true), new LockEvent.Stopped("a"),
        new LockEvent.Acquired("b", 2), new LockEvent.Wrote("b", 2, true),
        new LockEvent.Continued("a", 1), new LockEvent.Wrote("a", 1, false), new LockEvent.Renewed("a", 1, false),
        new LockEvent.Wrote("b", 2, true),
    ];

    [Fact]
    public void Refused_late_holder_is_right() => Assert.Empty(LockJudge.Judge(s_right));

    [Fact]
    public void Token_given_again_is_found() =>
        Find("token 1 was given before", new LockEvent.Acquired("b", 2), new LockEvent.Acquired("b", 1));

    [Fact]
    public void Late_write_that_is_taken_is_found() =>
        Find("late write was taken", new LockEvent.Wrote("a", 1, false), new LockEvent.Wrote("a", 1, true));

    [Fact]
    public void Late_renewal_that_is_granted_is_found() =>
        Find("late renewal was granted", new LockEvent.Renewed("a", 1, false), new LockEvent.Renewed("a", 1, true));

    [Fact]
    public void Second_return_of_a_member_does_not_hide_the_first()
    {
        LockEvent[] second =
        [
            new LockEvent.Acquired("a", 3), new LockEvent.Wrote("a", 3, true), new LockEvent.Stopped("a"),
            new LockEvent.Acquired("b", 4), new LockEvent.Wrote("b", 4, true),
            new LockEvent.Continued("a", 3), new LockEvent.Wrote("a", 3, false), new LockEvent.Renewed("a", 3, false),
            new LockEvent.Wrote("b", 4, true),
        ];
        Assert.Empty(LockJudge.Judge([.. s_right, .. second]));
        LockEvent[] broken =
            [.. s_right.Where(static one => one is not LockEvent.Wrote { IsTaken: false }), .. second];
        Assert.Contains("a went on and wrote 0 times with token 1", LockJudge.Judge(broken));
    }

    [Fact]
    public void Late_holder_that_does_not_write_is_found() =>
        Find("wrote 0 times", new LockEvent.Wrote("a", 1, false));

    [Fact]
    public void Late_holder_that_does_not_renew_is_found() =>
        Find("renewed token 1 0 times", new LockEvent.Renewed("a", 1, false));

    [Fact]
    public void Holder_that_has_forgotten_the_token_is_found() =>
        Find("has acquired token 1", new LockEvent.Continued("a", 1), new LockEvent.Continued("a", 0));

    [Fact]
    public void Write_with_the_token_of_another_member_is_found() =>
        Find("has acquired token 1", new LockEvent.Wrote("a", 1, false), new LockEvent.Wrote("a", 2, true));

    [Fact]
    public void Refusal_of_the_highest_token_is_found() =>
        Find("the vault has taken is 1", new LockEvent.Wrote("b", 2, true), new LockEvent.Wrote("b", 2, false));

    [Fact]
    public void Refusal_without_a_later_write_is_found() =>
        Assert.Contains(LockJudge.Judge(s_right[..^1]), static fault =>
            fault.Contains("no write was taken after", StringComparison.Ordinal));

    [Fact]
    public void Refusal_of_a_holder_whose_token_was_never_taken_is_found() =>
        Find("no write with token 1", new LockEvent.Wrote("a", 1, true));

    [Fact]
    public void Stop_without_another_holder_is_found() =>
        Find("no other member has acquired", new LockEvent.Acquired("b", 2));

    // Replaces the first event that equals the first argument, or leaves the event out.
    private static void Find(string fault, LockEvent replaced, LockEvent? by = null)
    {
        int at = Array.IndexOf(s_right, replaced);
        Assert.True(at >= 0);
        LockEvent[] broken = [.. s_right[..at], .. by is null ? [] : new[] { by }, .. s_right[(at + 1)..]];
        Assert.Contains(LockJudge.Judge(broken), found => found.Contains(fault, StringComparison.Ordinal));
    }
}
