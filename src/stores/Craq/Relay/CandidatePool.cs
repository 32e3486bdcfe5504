using System.Diagnostics.Metrics;

namespace Craq.Relay;

/// <summary>The memory of a node for relayed values, those that wait for their records and those that are being passed
/// on. Shared by the chains. Under the node's lock.</summary>
/// <remarks>Invariant: each of both is at most the limit.</remarks>
internal sealed class CandidatePool(long limit, UpDownCounter<long>? counter = null)
{
    private readonly LinkedList<Candidate> _oldestFirst = new();
    private long _held;
    private long _underWay;

    /// <summary>The oldest ones of all chains make room: the member that waits for one of them fetches it.</summary>
    /// <returns>Null: the record alone is larger than the limit.</returns>
    public LinkedListNode<Candidate>? Add(Candidate candidate)
    {
        if (candidate.Bytes.Length > limit) return null;
        while (_held + candidate.Bytes.Length > limit) _oldestFirst.First!.Value.Owner.Remove(
            _oldestFirst.First.Value.Version);
        Count(candidate.Bytes.Length);
        return _oldestFirst.AddLast(candidate);
    }

    public void Remove(LinkedListNode<Candidate> node)
    {
        _oldestFirst.Remove(node);
        Count(-node.Value.Bytes.Length);
    }

    /// <summary>Room for passing on a record as often; false: there is none at the moment.</summary>
    public bool TrySend(long bytes)
    {
        if (_underWay + bytes > limit) return false;
        _underWay += bytes;
        return true;
    }

    /// <summary>The receiver has answered, or has not in time.</summary>
    public void Sent(long bytes) => _underWay -= bytes;

    private void Count(int bytes)
    {
        _held += bytes;
        counter?.Add(bytes);
    }
}

/// <param name="Bytes">A whole record, whose values agree with their checks.</param>
internal sealed record Candidate(Candidates Owner, ObjectVersion Version, byte[] Bytes);
