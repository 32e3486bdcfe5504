namespace Corfu.Agent;

/// <summary>What is remembered of one process, whichever of its roles answered: a process that stands still answers in none of them.</summary>
internal sealed class ProcessState(DetectorOptions options, TimeSpan watchedSince)
{
    private const int MaxPauses = 16;

    // Oldest first, each longer than all behind it: a shorter pause says nothing that a later, longer one does not.
    private readonly List<(TimeSpan At, TimeSpan Length)> _pauses = [];

    public TimeSpan LastAnswer { get; private set; } = watchedSince;

    public bool HasAnswered { get; private set; }

    /// <summary>Since when it has answered without being away.</summary>
    public TimeSpan AliveSince { get; private set; }

    /// <summary>Its machine says that it is not there: then it is not late, and what comes next is another start.</summary>
    public bool IsRefusing { get; private set; }

    public bool IsSettled => HasAnswered && LastAnswer - AliveSince >= options.SettleAfter;

    public void Answer(TimeSpan now)
    {
        // What starts, stands still as it never does again: it is given its time by other means.
        if (!HasAnswered || IsRefusing) AliveSince = now;
        else if (IsSettled) Paused(now - LastAnswer, now);
        HasAnswered = true;
        IsRefusing = false;
        LastAnswer = now;
    }

    public void Refuse() => IsRefusing = true;

    public void Forgive(TimeSpan stall) => LastAnswer += stall;

    /// <summary>How long its silence is nothing new.</summary>
    public TimeSpan Patience(TimeSpan now)
    {
        _pauses.RemoveAll(pause => now - pause.At > options.PauseMemory);
        var learnt = _pauses.Count == 0 ? TimeSpan.Zero : _pauses[0].Length * options.PauseFactor;
        return learnt < options.SilentAfter ? options.SilentAfter : learnt < options.StuckAfter ? learnt : options.StuckAfter;
    }

    private void Paused(TimeSpan length, TimeSpan now)
    {
        _pauses.RemoveAll(pause => pause.Length <= length);
        if (_pauses.Count < MaxPauses) _pauses.Add((now, length));
    }
}
