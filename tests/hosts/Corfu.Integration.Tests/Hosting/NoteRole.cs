using System.Collections.Immutable;
using Corfu.Hosting;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Integration.Tests.Hosting;

/// <summary>A role that no project of the product knows: keeps one note in its folder.</summary>
internal sealed class NoteRole : INodeRole
{
    public const NodeRole Number = (NodeRole)128;

    public string Name => "Note";

    public NodeRole Role => Number;

    public bool HasFolder => true;

    public bool IsOpen { get; private set; }

    /// <summary>As the newest start has them.</summary>
    public IRoleHandlers? Beside { get; private set; }

    public void AddRequests(RequestTable table) =>
        table.Add(NoteRequest.Number, static (epoch, ref r) => new NoteRequest(epoch, r.Bytes()),
            lowest: AccessRole.Client);

    public Task<RunningRole> OpenAsync(RoleStart start)
    {
        Directory.CreateDirectory(start.Folder);
        var file = Path.Combine(start.Folder, "note");
        if (start.IsNew) File.WriteAllBytes(file, []);
        IsOpen = true;
        Beside = start.Beside;
        return Task.FromResult(new RunningRole(new Handler(start.Id, file), new Closing(this)));
    }

    public async Task<RoleAnswer> ProbeAsync(
        ITransport transport, NodeAddress node, CancellationToken cancellationToken)
    {
        var answer = await transport.CallAsync(node, new NoteRequest(Epoch.None, default), cancellationToken);
        return new RoleAnswer(true, answer.Epoch, $"{answer.Note.Length} bytes");
    }

    /// <summary>A handler of a note that the role does not have in its folder.</summary>
    public static IRoleHandler HandlerOf(NodeId id, string file) => new Handler(id, file);

    private sealed class Handler(NodeId id, string file) : IRoleHandler
    {
        private readonly Lock _gate = new();
        private byte[] _note = File.ReadAllBytes(file);

        public NodeRole Role => Number;

        public NodeId Id => id;

        public void Handle(Request request, ReplyTo reply)
        {
            if (request is not NoteRequest { Note: var note })
            {
                reply.Send(request.Fail(Status.BadRequest, Epoch.None));
                return;
            }

            lock (_gate)
            {
                if (!note.IsEmpty) File.WriteAllBytes(file, _note = note.ToArray());
                reply.Send(new NoteResponse(Status.Ok, request.Epoch, _note));
            }
        }
    }

    private sealed class Closing(NoteRole role) : IAsyncDisposable
    {
        public ValueTask DisposeAsync()
        {
            role.IsOpen = false;
            return default;
        }
    }
}

/// <summary>Replaces the note, or only reads it where the new one is empty.</summary>
internal sealed record NoteRequest(Epoch Epoch, ReadOnlyMemory<byte> Note) : Request<NoteResponse>(Number, Epoch)
{
    public const Opcode Number = (Opcode)128;

    public override void WriteBody(ref WireWriter w) => w.Bytes(Note.Span);

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        status == Status.Ok ? new NoteResponse(status, epoch, r.Bytes()) : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new NoteResponse(status, epoch, default);

    public override bool AnswerKeepsInput() => true;
}

internal sealed record NoteResponse(Status Status, Epoch Epoch, ReadOnlyMemory<byte> Note) : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (IsOk) w.Bytes(Note.Span);
    }
}
