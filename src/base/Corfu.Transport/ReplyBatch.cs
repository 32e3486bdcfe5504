namespace Corfu.Transport;

/// <summary>Answers that are ready at the same time, to any connections: those of one connection leave with one flush.
/// For one thread at a time.</summary>
public sealed class ReplyBatch
{
    // Corked by this batch, each once.
    private readonly HashSet<IReplySink> _corked = new(ReferenceEqualityComparer.Instance);
    private IReplySink? _newest;

    /// <summary>The answer that is sent next, or later, need not leave before <see cref="Flush"/>.</summary>
    public void Add(ReplyTo reply)
    {
        var sink = reply.Sink;
        if (ReferenceEquals(sink, _newest)) return;
        _newest = sink;
        if (_corked.Add(sink)) sink.Cork();
    }

    /// <summary>Lets the answers leave. The caller's thread sends those of one connection, which saves a lone caller a
    /// change of threads; other threads send the rest meanwhile.</summary>
    public void Flush()
    {
        var rest = _corked.Count;
        foreach (var sink in _corked) sink.Uncork(apart: --rest > 0);
        _corked.Clear();
        _newest = null;
    }
}
