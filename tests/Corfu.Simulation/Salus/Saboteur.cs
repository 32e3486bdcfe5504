using System.Collections.Immutable;
using System.Runtime.InteropServices;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Transport;
using Salus.Protocol;

namespace Corfu.Simulation.Salus;

/// <summary>A role of a machine, between the network and the shipped code: what an arbitrary failure of its region
/// servers looks like from outside.</summary>
internal sealed class Saboteur(SimSalusMachine machine, IRoleHandler server, SimRandom random) : IRoleHandler
{
    private const double WrongShare = 0.3;
    private const double FlippedShare = 0.05;

    private readonly Dictionary<(RegionKey Region, int First, int Count), GetResponse> _old = [];
    private (Request Request, ReplyTo Reply)? _heldBack;

    public NodeRole Role => server.Role;

    public NodeId Id => server.Id;

    public void Handle(Request request, ReplyTo reply)
    {
        switch (machine.Sabotage)
        {
            case SalusFault.Mute when Role == SalusRoles.RegionServer:
                // The lease is kept, and nothing is answered.
                return;
            case SalusFault.Reorder when request is PutBatchRequest put && _heldBack is null
                && random.Chance(WrongShare):
                // The request's memory is the connection's.
                _heldBack = (put with { Batch = put.Batch.ToArray() }, reply);
                return;
            case SalusFault.FlipMemory when random.Chance(FlippedShare):
                reply = Changed(request, reply, InFaultyMemory);
                break;
            case SalusFault.OldAnswer when request is GetRequest get:
                reply = Changed(request, reply, response => Old(get, response));
                break;
            case { } fault when random.Chance(WrongShare):
                reply = Changed(request, reply, response => Wrong(fault, response));
                break;
        }

        server.Handle(request, reply);
        if (_heldBack is not { } held || request is not PutBatchRequest) return;
        _heldBack = null;
        server.Handle(held.Request, held.Reply);
    }

    public void BatchEnd() => server.BatchEnd();

    public static byte[] Flipped(ReadOnlyMemory<byte> bytes, SimRandom random)
    {
        var flipped = bytes.ToArray();
        FlipInPlace(flipped, random);
        return flipped;
    }

    private static ReplyTo Changed(Request request, ReplyTo reply, Func<Response, Response> change) =>
        new(new ChangedAnswers(reply, change), 0, request.Opcode);

    private Response Wrong(SalusFault fault, Response response) => (fault, response) switch
    {
        (SalusFault.WrongAnswer, GetResponse { IsOk: true } get) => get with { Blocks = Wrong(get.Blocks) },
        (SalusFault.FlipTree, ReadTreeResponse { IsOk: true } tree) => tree with
        {
            PageHashes = Wrong(tree.PageHashes),
            Pages = [.. tree.Pages.Select(Wrong)],
        },
        (SalusFault.FlipTree, RegionStatusResponse { IsOk: true } status) =>
            status with { Root = Wrong(status.Root) },
        (SalusFault.WrongFile, ReadFileResponse { IsOk: true, Bytes.IsEmpty: false } file) =>
            file with { Bytes = Flipped(file.Bytes, random) },
        (SalusFault.ShortReport, ListLogResponse { IsOk: true, Records: [.. var fewer, _] } log) =>
            log with { Records = [.. fewer], HasMore = false, Commit = null },
        _ => response,
    };

    // Blocks with a turned bit, blocks of another place, and blocks that count as empty.
    private ImmutableArray<ReadOnlyMemory<byte>> Wrong(ImmutableArray<ReadOnlyMemory<byte>> blocks)
    {
        var at = random.Next(blocks.Length);
        switch (random.Next(3))
        {
            case 0 when !blocks[at].IsEmpty:
                return blocks.SetItem(at, Flipped(blocks[at], random));
            case 1:
                return blocks.SetItem(at, blocks[random.Next(blocks.Length)]);
            default:
                return blocks.SetItem(at, default);
        }
    }

    private ImmutableArray<Hash128> Wrong(ImmutableArray<Hash128> hashes)
    {
        if (hashes.IsEmpty) return hashes;
        var at = random.Next(hashes.Length);
        return hashes.SetItem(at, Wrong(hashes[at]));
    }

    private static Hash128 Wrong(Hash128 hash) => Hash128.Of(System.Text.Encoding.UTF8.GetBytes($"{hash}"));

    // The first answer is repeated for ever.
    private Response Old(GetRequest request, Response response)
    {
        if (response is not GetResponse { IsOk: true } get) return response;
        var place = (request.Region, request.First, request.Count);
        if (_old.TryGetValue(place, out var old)) return old;
        _old.Add(place, get with { Blocks = [.. get.Blocks.Select(block => (ReadOnlyMemory<byte>)block.ToArray())] });
        return response;
    }

    // The memory is what the region server keeps: the next reader finds the turned bit.
    public static void FlipInPlace(ReadOnlyMemory<byte> bytes, SimRandom random)
    {
        if (bytes.IsEmpty || !MemoryMarshal.TryGetArray(bytes, out var memory)) return;
        memory.AsSpan()[random.Next(memory.Count)] ^= (byte)(1 << random.Next(8));
    }

    private Response InFaultyMemory(Response response)
    {
        if (response is GetResponse { IsOk: true, Blocks.IsEmpty: false } get)
            FlipInPlace(get.Blocks[random.Next(get.Blocks.Length)], random);
        return response;
    }

    private sealed class ChangedAnswers(ReplyTo reply, Func<Response, Response> change) : IReplySink
    {
        public Principal Principal => reply.Principal;

        public void Send(uint correlation, Opcode answered, Response response) => reply.Send(change(response));
    }
}
