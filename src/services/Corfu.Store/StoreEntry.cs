namespace Corfu.Store;

/// <summary>A key and its value.</summary>
/// <param name="Value">Empty, where a read asked for keys alone.</param>
/// <param name="Created">Revision of the put that made the key.</param>
/// <param name="Revision">Revision of the newest put.</param>
/// <param name="Version">Number of puts since the key was made.</param>
/// <param name="Lease">The lease with which the key ends; 0: none.</param>
public sealed record StoreEntry(
    StoreKey Key, ReadOnlyMemory<byte> Value, long Created, long Revision, long Version, long Lease);

/// <summary>Answer to a read of several keys, all of one revision.</summary>
/// <param name="Revision">The store's, when it was read.</param>
/// <param name="Entries">In the order of keys; those that were asked for one by one, in the order of the call.</param>
/// <param name="Count">Keys of the range, also those beyond the limit.</param>
public sealed record StoreEntries(long Revision, ImmutableArray<StoreEntry> Entries, long Count)
{
    /// <summary>There are keys beyond the limit.</summary>
    public bool HasMore => Count > Entries.Length && !Entries.IsEmpty;
}

/// <summary>Options of a read of a range.</summary>
public sealed record RangeOptions
{
    internal static RangeOptions Default { get; } = new();

    /// <summary>The first so many keys; 0: all. The others are counted: pages of a large range cost less with
    /// <see cref="CorfuStore.ScanAsync"/>.</summary>
    public int Limit { get; init; }

    /// <summary>Entries come without values, which are not read.</summary>
    public bool KeysOnly { get; init; }

    /// <summary>The answer has no entry, and the count alone.</summary>
    public bool CountOnly { get; init; }
}

/// <summary>Change of one key.</summary>
/// <param name="Entry">As it is after the change. Of a deletion: the key and the revision, and no more.</param>
/// <param name="Previous">As it was before; null: there was none, it was not asked for, or it is compacted.</param>
public sealed record StoreChange(StoreEntry Entry, bool IsDeletion, StoreEntry? Previous)
{
    public StoreKey Key => Entry.Key;
}

/// <summary>All changes of one revision in the watched range.</summary>
/// <param name="Changes">Empty: nothing in the range has changed up to this revision
/// (<see cref="WatchOptions.Progress"/>, <see cref="WatchOptions.Requests"/>).</param>
public sealed record StoreChanges(long Revision, ImmutableArray<StoreChange> Changes);

/// <summary>Options of a watch.</summary>
public sealed record WatchOptions
{
    internal static WatchOptions Default { get; } = new();

    /// <summary>Changes tell the entries before them.</summary>
    public bool Previous { get; init; }

    /// <summary>The watch also tells how far it has come where nothing in its range has changed.</summary>
    public bool Progress { get; init; }

    /// <summary>As <see cref="Progress"/>, whenever it is asked for. Of one watch.</summary>
    public ProgressRequests? Requests { get; init; }
}

/// <summary>Effect of a deletion.</summary>
/// <param name="Revision">The store's, after the call: a new one if a key was deleted.</param>
/// <param name="Count">Keys that were deleted.</param>
public readonly record struct StoreDeletion(long Revision, long Count);

/// <summary>Outcome of a test and set.</summary>
/// <param name="Succeeded">False: the key had another revision, and nothing was written.</param>
/// <param name="Revision">The store's, after the call.</param>
public readonly record struct StoreTest(bool Succeeded, long Revision);

/// <summary>A lease, as the log has it.</summary>
/// <param name="Remaining">Time until it ends unless it is renewed, by the clocks of this process and of the one that
/// renewed it: for people. The lease ends by the clock of a process that saw no renewal.</param>
/// <param name="Keys">The keys that end with it, in order.</param>
public sealed record StoreLease(long Id, TimeSpan TimeToLive, TimeSpan Remaining, ImmutableArray<StoreKey> Keys);
