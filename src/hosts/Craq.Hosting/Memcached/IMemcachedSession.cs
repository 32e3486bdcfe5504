using System.Buffers;
using System.IO.Pipelines;

namespace Craq.Hosting.Memcached;

/// <summary>A connection in one of memcached's protocols. Commands run one behind the other, in their order.</summary>
internal interface IMemcachedSession
{
    /// <summary>Takes what is executed next from the beginning of the buffer; false: more bytes are needed.</summary>
    bool TryRead(ref ReadOnlySequence<byte> buffer);

    /// <summary>Executes what was read and writes the answers; false: the connection ends.</summary>
    ValueTask<bool> ExecuteAsync(PipeWriter output, CancellationToken cancellationToken);
}
