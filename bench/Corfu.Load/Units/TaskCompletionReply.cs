using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Load.Units;

/// <summary>An answer as a task.</summary>
internal sealed class TaskCompletionReply : IReplySink
{
    private readonly TaskCompletionSource<Response> _done = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public Task<Response> Task => _done.Task;

    public ReplyTo Address(Opcode opcode) => new(this, 0, opcode);

    public void Send(uint correlation, Opcode opcode, Response response) => _done.TrySetResult(response);
}
