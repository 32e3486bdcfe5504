using Corfu.Client;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Cluster;

/// <summary>Clients that want more than their role allows, and processes that allow less than others.</summary>
public sealed partial class SimCluster
{
    /// <summary>The reason of every projection that a client makes up. None of them may ever count.</summary>
    public const string Forged = "forged by a client";

    /// <summary>The holder of a client's stolen key tries to change the cluster, each time in another way.</summary>
    public bool StartForgery(SimRandom random)
    {
        if (_changes > 1) return false;
        int verb = random.Next(7);
        NodeAddress unit = random.Pick(Monitor.Newest.Units);
        var foreign = new NodeAddress(new NodeId(Entropy.NewGuid()), unit.Endpoint);
        RunChange(async node =>
        {
            Projection known = ((CorfuClient)node.Log!).Projection;
            try
            {
                if (await ForgeAsync(node, verb, known, unit, foreign) is { IsOk: true } answer)
                    Monitor.Found(CheckerNames.Membership, $"{node.Name}, a client, was answered {answer}");
                else Monitor.Mark("forged projection refused");
            }
            catch (CorfuDeniedException)
            {
                Monitor.Mark("change by a client denied");
            }
            catch (CorfuException e)
            {
                // A node or a majority does not answer.
                World.Explain($"{node.Name}: {e.Message}");
            }
        }, AccessRole.Client);
        return true;
    }

    /// <summary>A machine denies one client's writes, as where its certificate is mapped to another role.</summary>
    /// <returns>Ends it.</returns>
    public Action DenyWrites(SimRandom random)
    {
        SimUnitNode unit = random.Pick(Units);
        string client = random.Pick(Clients).Name;
        unit.Host.Denies = (peer, opcode) => opcode == Opcode.Write && peer.Name == client;
        return () => unit.Host.Denies = static (_, _) => false;
    }

    private static async Task<Response?> ForgeAsync(
        SimClientNode node, int verb, Projection known, NodeAddress unit, NodeAddress foreign)
    {
        Projection next = Forge(known, known.Epoch.Next);
        var ballot = new Ballot(1 << 20, node.Entropy.NewGuid());
        switch (verb)
        {
            case 0:
                await ((CorfuClient)node.Log!).Cluster.ReconfigureAsync(
                    p => Membership.Of(p).WithSequencer(foreign), Forged);
                return new AckResponse(Status.Ok, known.Epoch);
            case 1:
                return await node.Transport!.CallAsync(unit, new InstallRequest(next), default);
            case 2:
                return await node.Transport!.CallAsync(known.Sequencer, new BootstrapRequest(next), default);
            case 3:
                return await node.Transport!.CallAsync(known.Acceptors[0], new DecidedRequest(next), default);
            case 4:
                foreach (NodeAddress acceptor in known.Acceptors)
                {
                    Response answer = await node.Transport!.CallAsync(
                        acceptor, new AcceptRequest(ballot, next), default);
                    if (answer.IsOk) return answer;
                }

                return null;
            case 5:
                return await node.Transport!.CallAsync(unit, new SealRequest(known.Epoch.Next), default);
            default:
                // Contradicts what is decided.
                return await node.Transport!.CallAsync(
                    unit, new InstallRequest(Forge(known, known.Epoch)), default);
        }
    }

    // A single acceptor would decide alone from here on.
    private static Projection Forge(Projection p, Epoch epoch) =>
        new(p.Cluster, epoch, p.Sequencer, p.Start, p.TrimMark, p.Segments, p.Units, [p.Acceptors[0]], Forged);
}
