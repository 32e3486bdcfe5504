namespace Corfu.Checkers;

/// <summary>The calls of the users of one volume, in plain numbers. A block holds a number: each write of a block has
/// one of its own, and zero stands for an empty block. Start and End order the calls of different mounts.</summary>
public sealed class VolumeHistory(string name, int blocks)
{
    /// <summary>End of a call that was never answered.</summary>
    public const long Never = long.MaxValue;

    /// <summary>A block with bytes that no write has made.</summary>
    public const long Garbage = -1;

    public string Name => name;

    public int Blocks => blocks;

    /// <summary>The tenures of the volume's writers, in the order of their runs.</summary>
    public List<VolumeMount> Mounts { get; } = [];

    public List<VolumeSnapshot> Snapshots { get; } = [];
}

/// <summary>The calls of one tenure, in the order of their places.</summary>
public sealed class VolumeMount(string name)
{
    public string Name => name;

    public List<VolumeCall> Calls { get; } = [];

    /// <summary>Acknowledged writes before this tenure may be missing: their loss is on record, or everything that
    /// proved them is gone. What is left is a prefix all the same.</summary>
    public bool MayHaveLost { get; set; }
}

/// <summary>A snapshot, taken while the calls of a mount had these places.</summary>
/// <param name="Mount">Index of the mount.</param>
/// <param name="From">Calls that had their places when the snapshot was asked for: all of them are in it.</param>
/// <param name="To">Calls that had their places when the snapshot was there: no later one is in it.</param>
public sealed record VolumeSnapshot(string Name, int Mount, int From, int To)
{
    /// <summary>Blocks as readers saw them.</summary>
    public List<(int Block, long Value)> Seen { get; } = [];
}

public enum VolumeAct
{
    Write,
    Clear,
    Read,
    Flush,
}

public enum VolumeFate
{
    /// <summary>No answer: a write is there or not.</summary>
    Unknown,

    Done,

    /// <summary>A write was acknowledged when it had its place: a crash may lose it with all behind it.</summary>
    Placed,

    /// <summary>An error was answered, and a write is there or not.</summary>
    Failed,

    /// <summary>An error was answered, and nothing was done.</summary>
    Refused,
}

/// <param name="First">The first block.</param>
public sealed record VolumeCall(VolumeAct Act, int First, int Count, long Start)
{
    public long End { get; init; } = VolumeHistory.Never;

    public VolumeFate Fate { get; init; }

    /// <summary>Values that a write gives to its blocks, or that an answered read has found there.</summary>
    public IReadOnlyList<long> Values { get; init; } = [];

    public bool Changes => Act is VolumeAct.Write or VolumeAct.Clear && Fate != VolumeFate.Refused;

    /// <summary>The value that the call leaves in a block of its range.</summary>
    public long ValueOf(int block) => Act == VolumeAct.Write ? Values[block - First] : 0;

    public override string ToString() => $"{Act} {First}+{Count} [{Start},"
        + $"{(End == VolumeHistory.Never ? "-" : End)}] {Fate} {{{string.Join(",", Values)}}}";
}
