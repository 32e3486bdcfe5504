namespace Craq;

/// <summary>The outcome of a write.</summary>
public enum WriteOutcome
{
    /// <summary>Applied once, and durable at every full member of its chain.</summary>
    Written = 0,

    /// <summary>A compare failed, or an operation did not fit its object: nothing was written.</summary>
    Mismatch = 1,

    /// <summary>The write was applied once, will be, or never is. Reading the object tells more.</summary>
    Unknown = 2,
}

/// <summary>The result of a write.</summary>
public readonly record struct WriteResult
{
    internal WriteResult(WriteOutcome outcome, MutateResponse? response = null)
    {
        Outcome = outcome;
        Version = response?.Version ?? default;
        IsCommitted = outcome == WriteOutcome.Written && response!.Version <= response.Mark;
        MismatchIndex = outcome == WriteOutcome.Mismatch ? response!.Index : -1;
        Reads = response is null ? [] : [.. response.Result.Reads.Select(found => new StoredObject(found, -1))];
        Sums = response?.Result.Sums ?? [];
    }

    public WriteOutcome Outcome { get; }

    public bool IsWritten => Outcome == WriteOutcome.Written;

    /// <summary>The version that was written; with a mismatch that of the object which did not compare.</summary>
    public ObjectVersion Version { get; }

    /// <summary>False for a write that was answered at the head (<see cref="MutateBuilder.AnswerAtHead"/>): it is
    /// durable there, and lost if the head is lost before the version goes down the chain.</summary>
    public bool IsCommitted { get; }

    /// <summary>The compare that failed, in the order of the builder; behind the last one, the operation that did not
    /// fit its object. -1: none.</summary>
    public int MismatchIndex { get; }

    /// <summary>The objects that the mutation read, as they were before its writes.</summary>
    public ImmutableArray<StoredObject> Reads { get; }

    /// <summary>The sums of the additions, in order.</summary>
    public ImmutableArray<ulong> Sums { get; }

    /// <summary>The sum of the only addition.</summary>
    /// <exception cref="InvalidOperationException">Nothing was added.</exception>
    public ulong Sum => Sums is [var sum, ..]
        ? sum
        : throw new InvalidOperationException($"Nothing was added: the outcome is {Outcome}.");

    internal static WriteResult Unknown { get; } = new(WriteOutcome.Unknown);
}
