using Corfu.Client;
using Corfu.Grpc.Protocol.Log.V1;
using Google.Protobuf;

namespace Corfu.Grpc.Client;

/// <summary>One append on its way to a front end.</summary>
/// <remarks>Waiting, then Sending while its message is made, then Sent. Cancelled while it waits it is not in the log;
/// cancelled later its outcome is unknown. The payload is the caller's again when the task completes, so a cancellation
/// during Sending takes effect after it.</remarks>
internal sealed class PendingAppend(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams, bool toObjects)
    : TaskCompletionSource<Corfu.Client.AppendResult>(TaskCreationOptions.RunContinuationsAsynchronously)
{
    private const int Waiting = 0;
    private const int Sending = 1;
    private const int Sent = 2;
    private const int Cancelled = 3;

    private int _state;

    public int Size => payload.Length;

    /// <summary>False if it was cancelled: it must not be sent.</summary>
    public bool TrySend() => Interlocked.CompareExchange(ref _state, Sending, Waiting) == Waiting;

    public void WasSent()
    {
        if (Interlocked.CompareExchange(ref _state, Sent, Sending) != Sending) TrySetResult(Messages.NoAnswer);
    }

    public void Cancel(CancellationToken cancellationToken)
    {
        switch (Interlocked.Exchange(ref _state, Cancelled))
        {
            case Waiting:
                TrySetCanceled(cancellationToken);
                break;
            case Sent:
                TrySetResult(Messages.NoAnswer);
                break;
        }
    }

    public NewEntry ToMessage()
    {
        var entry = new NewEntry { Payload = UnsafeByteOperations.UnsafeWrap(payload), ToObjects = toObjects };
        foreach (var stream in streams) entry.StreamIds.Add(stream.Value);
        return entry;
    }
}
