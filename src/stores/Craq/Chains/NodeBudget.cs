using Craq.Relay;

namespace Craq.Chains;

/// <summary>The memory that the chains of a node share. Under the node's lock.</summary>
internal sealed class NodeBudget(CraqNodeOptions options)
{
    // Committed records in memory, in the order in which they were committed, over all chains.
    private readonly Queue<(IHotRecords Run, ObjectVersion Version, int Bytes)> _hot = new();
    private long _hotBytes;

    public CandidatePool Relayed { get; } = new(options.MaxRelayBytes, CraqTelemetry.ValuesHeld);

    public long DirtyBytes { get; private set; }

    public int DirtyRecords { get; private set; }

    public long WindowBytes { get; set; }

    /// <summary>Bytes of mutations that wait for transactions.</summary>
    public long BlockedBytes { get; set; }

    /// <summary>Requests that wait in the chains.</summary>
    public int Waiting { get; set; }

    public bool HasRoom(int bytes) =>
        DirtyRecords < options.MaxDirtyRecords && DirtyBytes + bytes <= options.MaxDirtyBytes;

    public bool HasPlace => Waiting < options.MaxWaiting;

    public void AddDirty(int bytes)
    {
        DirtyRecords++;
        DirtyBytes += bytes;
    }

    public void RemoveDirty(int bytes)
    {
        DirtyRecords--;
        DirtyBytes -= bytes;
    }

    /// <summary>The oldest committed records of all chains make room.</summary>
    public void AddHot(IHotRecords run, ObjectVersion version, int bytes)
    {
        _hot.Enqueue((run, version, bytes));
        _hotBytes += bytes;
        while (_hotBytes > options.MaxHotBytes && _hot.TryDequeue(out var oldest))
        {
            _hotBytes -= oldest.Bytes;
            oldest.Run.Forget(oldest.Version);
        }
    }
}

/// <summary>Committed records in memory.</summary>
internal interface IHotRecords
{
    /// <summary>The oldest one leaves the memory.</summary>
    void Forget(ObjectVersion version);
}
