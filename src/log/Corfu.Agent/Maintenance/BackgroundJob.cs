using System.Globalization;

namespace Corfu.Agent;

/// <param name="Trouble">The reason why the job does not go on; null: it does.</param>
internal readonly record struct JobProgress(string What, long Done, long Total, long Bytes, string? Trouble);

/// <summary>Long work that a cluster needs once, one run at a time. It may run while <see cref="EligibleSince"/> is not
/// null: it is needed, and no agent before this one works at it. Without progress for
/// <see cref="AgentOptions.StalledJobLimit"/> it is passed on: the next agent may work at it, until it is done here or
/// not needed any more.</summary>
internal sealed class BackgroundJob(JobKind kind, TimeSpan interval)
{
    private readonly record struct Mark(Epoch Members, long Done);

    // The most that any run has done with the newest membership, and since when. An epoch is no progress by itself: a
    // run that cannot seal a unit leaves others sealed, so that a renewal follows it each time (R14).
    private Mark _mark;
    private TimeSpan _markedAt;
    private bool _hasFailed;

    public JobKind Kind => kind;

    public TimeSpan? EligibleSince { get; private set; }

    /// <summary>Cancels the run under way; null when there is none, like <see cref="Progress"/>.</summary>
    public CancellationTokenSource? Stop { get; private set; }

    public bool IsRunning => Stop is not null;

    public Task Running { get; set; } = Task.CompletedTask;

    /// <summary>When the run under way began, or the last one.</summary>
    public TimeSpan Began { get; private set; }

    public TimeSpan NotBefore { get; private set; }

    /// <summary>The reason why the job was passed on; null: it was not.</summary>
    public string? PassedOn { get; private set; }

    public Func<JobProgress>? Progress { get; private set; }

    public bool MayStart(TimeSpan now, TimeSpan delay) =>
        !IsRunning && EligibleSince is { } since && now - since >= delay && now >= NotBefore;

    public void BecomeEligible(TimeSpan now)
    {
        if (EligibleSince is not null) return;
        EligibleSince = now;
        _markedAt = now;
    }

    /// <summary>Another agent works at it, or automation is off.</summary>
    public void BecomeIneligible()
    {
        EligibleSince = null;
        Stop?.Cancel();
    }

    /// <summary>Nothing is to be done. A run under way ends by itself.</summary>
    public void BecomeUnneeded()
    {
        EligibleSince = null;
        PassedOn = null;
        _hasFailed = false;
    }

    public CancellationToken BecomeRunning(TimeSpan now, Func<JobProgress> progress, CancellationToken stopped)
    {
        Began = now;
        // Another attempt after it was passed on has its own time.
        if (PassedOn is not null) _markedAt = now;
        Progress = progress;
        Stop = CancellationTokenSource.CreateLinkedTokenSource(stopped);
        return Stop.Token;
    }

    public void Ended(bool isDone, TimeSpan now, TimeSpan retryAfter)
    {
        Stop?.Dispose();
        Stop = null;
        Progress = null;
        _hasFailed = !isDone;
        var next = isDone ? Began + interval : now + retryAfter;
        if (next > NotBefore) NotBefore = next;
        if (!isDone) return;
        PassedOn = null;
        _mark = default;
    }

    /// <param name="members">The epoch that brought the membership in force.</param>
    /// <returns>Whether it is passed on now.</returns>
    public bool PassOnIfStalled(Epoch members, TimeSpan now, AgentOptions options)
    {
        var progress = Progress?.Invoke();
        var mark = new Mark(members, progress?.Done ?? 0);
        if (mark.Members != _mark.Members || mark.Done > _mark.Done || (!IsRunning && !_hasFailed))
        {
            _mark = mark;
            _markedAt = now;
            return false;
        }

        // Passed on already: the pause until the next attempt is not begun anew, or there would be none.
        if (!IsRunning && PassedOn is not null) return false;
        if (now - _markedAt < options.StalledJobLimit) return false;
        _markedAt = now;
        NotBefore = now + options.StalledJobPause;
        PassedOn = progress?.Trouble ?? string.Create(
            CultureInfo.InvariantCulture, $"no progress for {options.StalledJobLimit.TotalSeconds:0.0#} s");
        Stop?.Cancel();
        return true;
    }
}
