using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Transport;
using Salus.Protocol;

namespace Corfu.Simulation.Salus;

/// <summary>The region servers of a machine, between the network and the shipped code: what an arbitrary failure of
/// theirs looks like from outside.</summary>
internal sealed class Saboteur(SimSalusMachine machine, IRoleHandler server, SimRandom random) : IRoleHandler
{
    private const double WrongShare = 0.3;

    public NodeRole Role => server.Role;

    public NodeId Id => server.Id;

    public void Handle(Request request, ReplyTo reply)
    {
        // A mute server keeps its lease, and answers nothing.
        if (machine.Sabotage == SalusFault.Mute) return;
        if (machine.Sabotage == SalusFault.WrongAnswer && request is GetRequest && random.Chance(WrongShare))
            reply = new ReplyTo(new WrongAnswers(reply, random), 0, request.Opcode);
        server.Handle(request, reply);
    }

    public void BatchEnd() => server.BatchEnd();

    // Blocks with a turned bit, blocks of another place, and blocks that count as empty.
    private sealed class WrongAnswers(ReplyTo reply, SimRandom random) : IReplySink
    {
        public Principal Principal => reply.Principal;

        public void Send(uint correlation, Opcode answered, Response response) =>
            reply.Send(response is GetResponse { IsOk: true } get ? get with { Blocks = Wrong(get.Blocks) } : response);

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
    }

    public static byte[] Flipped(ReadOnlyMemory<byte> bytes, SimRandom random)
    {
        var flipped = bytes.ToArray();
        flipped[random.Next(flipped.Length)] ^= (byte)(1 << random.Next(8));
        return flipped;
    }
}

/// <summary>Messages of the machine to other region servers.</summary>
internal sealed class SabotagedTransport(SimSalusMachine machine, ITransport inner, SimRandom random)
    : TransportWrapper(inner)
{
    private const double FlippedShare = 0.1;

    public override ValueTask<TResponse> CallAsync<TResponse>(
        NodeAddress to, Request<TResponse> request, CancellationToken cancellationToken)
    {
        if (machine.Sabotage == SalusFault.FlipForward && request is ForwardRequest { Content.IsEmpty: false } forward
            && random.Chance(FlippedShare))
        {
            var flipped = forward with { Content = Saboteur.Flipped(forward.Content, random) };
            request = (Request<TResponse>)(Request)flipped;
        }

        return base.CallAsync(to, request, cancellationToken);
    }
}
