using System.Buffers;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Corfu.Grpc;

/// <summary>A request's body whose large messages take bytes of a budget while they arrive. A message is in memory from
/// its first byte on, long before its call can count it.</summary>
/// <remarks>Small messages take none: they are bounded by the number of calls.</remarks>
internal sealed class IncomingBody(HttpContext http, PipeReader inner, string caller, CallerLimits limits)
    : PipeReader, IRequestBodyPipeFeature
{
    private const int Small = 64 << 10;

    // A sender that takes longer holds up others of the same caller.
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(30);

    // Used by the one reader of the body.
    private ReadOnlySequence<byte> _buffer;
    private long _waiting;
    private IDisposable? _taken;
    private ITimer? _timer;

    public PipeReader Reader => this;

    public override async ValueTask<ReadResult> ReadAsync(CancellationToken cancellationToken = default)
    {
        if (_waiting > Small && _taken is null)
        {
            using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, http.RequestAborted);
            _taken = await limits.Incoming.TakeAsync(caller, limits.LargestMessage, either.Token);
            _timer = limits.Time.CreateTimer(
                static request => ((HttpContext)request!).Abort(), http, Longest, Timeout.InfiniteTimeSpan);
        }

        var read = await inner.ReadAsync(cancellationToken);
        _buffer = read.Buffer;
        return read;
    }

    public override bool TryRead(out ReadResult result)
    {
        if (!inner.TryRead(out result)) return false;
        _buffer = result.Buffer;
        return true;
    }

    public override void AdvanceTo(SequencePosition consumed) => AdvanceTo(consumed, consumed);

    public override void AdvanceTo(SequencePosition consumed, SequencePosition examined)
    {
        _waiting = _buffer.Slice(consumed).Length;
        _buffer = default;
        inner.AdvanceTo(consumed, examined);
        if (_waiting <= Small) GiveBack();
    }

    public override void CancelPendingRead() => inner.CancelPendingRead();

    public override void Complete(Exception? exception = null) => inner.Complete(exception);

    /// <summary>The call has ended.</summary>
    public void GiveBack()
    {
        _timer?.Dispose();
        _timer = null;
        Interlocked.Exchange(ref _taken, null)?.Dispose();
    }
}
