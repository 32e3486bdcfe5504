using System.Buffers;
using System.Globalization;
using Corfu.Load;

namespace Corfu.Peers;

/// <summary>A request that waits for its answer.</summary>
internal sealed class ZooKeeperRequest
{
    public const int Create = 1;
    public const int GetData = 4;
    public const int SetData = 5;
    public const int Sync = 9;
    public const int Ping = 11;

    /// <summary>The number of every ping, and of no request.</summary>
    public const int PingXid = -2;

    private readonly TaskCompletionSource<byte[]> _answer = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Requests of a session are numbered; answers bear the number.</summary>
    public int Xid { get; set; }

    public Task<byte[]> Answer => _answer.Task;

    public void Complete(int error, byte[] body)
    {
        if (error == 0) _answer.TrySetResult(body);
        else _answer.TrySetException(new PeerException(
            string.Create(CultureInfo.InvariantCulture, $"ZooKeeper answered with error {error}.")));
    }

    public void Fail(Exception cause) => _answer.TrySetException(cause);

    /// <summary>Frame: length, then the body.</summary>
    public static void WriteFrame(IBufferWriter<byte> output, Action<IBufferWriter<byte>> body)
    {
        var frame = new ArrayBufferWriter<byte>();
        body(frame);
        output.Bytes(frame.WrittenSpan);
    }
}
