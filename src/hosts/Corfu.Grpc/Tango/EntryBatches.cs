using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary>Entries, divided into messages of a limited size. An entry that is larger goes alone.</summary>
internal sealed class EntryBatches
{
    private readonly IEnumerator<V1.Entry> _entries;
    private readonly CorfuGrpcOptions _options;

    public EntryBatches(IEnumerable<V1.Entry> entries, CorfuGrpcOptions options)
    {
        (_entries, _options) = (entries.GetEnumerator(), options);
        HasMore = _entries.MoveNext();
    }

    public bool HasMore { get; private set; }

    /// <returns>None, if there are no more.</returns>
    public List<V1.Entry> Take()
    {
        var batch = new List<V1.Entry>();
        var bytes = 0L;
        while (HasMore && batch.Count < _options.MaxBatchEntries)
        {
            bytes += _entries.Current.CalculateSize();
            if (batch.Count > 0 && bytes > _options.MaxBatchBytes) break;
            batch.Add(_entries.Current);
            HasMore = _entries.MoveNext();
        }

        return batch;
    }
}
