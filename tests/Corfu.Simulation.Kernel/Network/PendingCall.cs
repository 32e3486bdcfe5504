using Corfu.Protocol;

namespace Corfu.Simulation.Kernel.Network;

/// <summary>A request that waits for its answer.</summary>
internal abstract class PendingCall
{
    public abstract void Answer(FrameHeader header, ReadOnlyMemory<byte> body);

    public abstract void Fail(Exception why);
}

internal sealed class PendingCall<TResponse>(Request<TResponse> request, ushort version) : PendingCall
    where TResponse : Response
{
    private readonly TaskCompletionSource<TResponse> _answer = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public Task<TResponse> Task => _answer.Task;

    public override void Answer(FrameHeader header, ReadOnlyMemory<byte> body)
        => _answer.TrySetResult((TResponse)MessageCodec.ReadResponse(request, header, body, version));

    public override void Fail(Exception why) => _answer.TrySetException(why);
}
