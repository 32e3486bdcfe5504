using Corfu.Protocol;

namespace Corfu.Agent.Tests;

public sealed class BackgroundJobTests
{
    private static readonly AgentOptions Options = new()
    {
        Self = default,
        StalledJobLimit = TimeSpan.FromSeconds(30),
        StalledJobPause = TimeSpan.FromSeconds(60)
    };

    private readonly BackgroundJob _job = new(JobKind.Rebuild, TimeSpan.FromSeconds(5));
    private long _done;

    private static TimeSpan At(int seconds) => TimeSpan.FromSeconds(seconds);

    private bool IsPassedOnAt(int seconds, long members = 1) =>
        _job.PassOnIfStalled(new Epoch(members), At(seconds), Options);

    private void Start(int seconds)
    {
        _job.BecomeEligible(At(seconds));
        _job.BecomeRunning(At(seconds), () => new JobProgress("rebuild", _done, 10, 0, "unit 7 does not answer"),
            CancellationToken.None);
        Assert.False(IsPassedOnAt(seconds));
    }

    [Fact]
    public void A_job_that_gets_on_is_not_passed_on()
    {
        Start(0);
        for (var i = 1; i < 10; i++)
        {
            _done++;
            Assert.False(IsPassedOnAt(i * 29));
        }
    }

    [Fact]
    public void A_job_without_progress_is_passed_on_with_the_reason_and_tried_again_after_a_pause()
    {
        Start(0);
        Assert.False(IsPassedOnAt(29));
        Assert.True(IsPassedOnAt(30));
        Assert.Equal("unit 7 does not answer", _job.PassedOn);
        Assert.True(_job.Stop!.IsCancellationRequested);
        _job.Ended(false, At(31), TimeSpan.FromSeconds(5));
        Assert.False(_job.MayStart(At(89), TimeSpan.Zero));
        Assert.True(_job.MayStart(At(90), TimeSpan.Zero));
    }

    [Fact]
    public void The_pause_of_a_job_that_was_passed_on_ends()
    {
        Start(0);
        Assert.True(IsPassedOnAt(30));
        _job.Ended(false, At(31), TimeSpan.FromSeconds(5));
        for (var second = 32; second <= 90; second++) Assert.False(IsPassedOnAt(second));
        Assert.True(_job.MayStart(At(90), TimeSpan.Zero));
        _job.BecomeRunning(At(90), () => new JobProgress("rebuild", _done, 10, 0, null), CancellationToken.None);
        Assert.False(IsPassedOnAt(119));
        Assert.True(IsPassedOnAt(120));
    }

    [Fact]
    public void Work_that_an_earlier_run_had_done_is_no_progress()
    {
        _done = 5;
        Start(0);
        _job.Ended(false, At(20), TimeSpan.Zero);
        _done = 0;
        _job.BecomeRunning(At(21), () => new JobProgress("rebuild", _done, 10, 0, null), CancellationToken.None);
        _done = 5;
        Assert.True(IsPassedOnAt(30));
    }

    [Fact]
    public void Job_stays_passed_on_until_done_or_not_needed_any_more()
    {
        Start(0);
        Assert.True(IsPassedOnAt(30));
        _job.Ended(false, At(31), TimeSpan.Zero);
        _job.BecomeRunning(At(90), () => new JobProgress("rebuild", _done, 10, 0, null), CancellationToken.None);
        Assert.NotNull(_job.PassedOn);
        Assert.False(IsPassedOnAt(91, members: 2));
        Assert.NotNull(_job.PassedOn);
        _job.Ended(true, At(92), TimeSpan.Zero);
        Assert.Null(_job.PassedOn);
        _job.BecomeUnneeded();
        Assert.Null(_job.EligibleSince);
    }
}
