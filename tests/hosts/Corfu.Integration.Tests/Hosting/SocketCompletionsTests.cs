using Corfu.Hosting;
using Corfu.Protocol;

namespace Corfu.Integration.Tests.Hosting;

/// <summary>Which nodes handle messages on the thread that learns of them: those whose handlers never wait.</summary>
public sealed class SocketCompletionsTests
{
    // A number that no role of the log has.
    private const NodeRole Foreign = (NodeRole)200;

    [Theory]
    [InlineData(true, NodeRole.Sequencer)]
    [InlineData(true, NodeRole.Sequencer, NodeRole.Sequencer)]
    [InlineData(false, NodeRole.Unit, NodeRole.Acceptor, NodeRole.Sequencer)]
    [InlineData(false, NodeRole.Sequencer, Foreign)]
    public void Sequencer_alone_is_handled_where_sockets_are_ready(bool inline, params NodeRole[] roles)
    {
        var options = new NodeOptions();
        foreach (var role in roles) options.Roles.Add(new NodeRoleOptions { Role = role });
        Assert.Equal(inline, SocketCompletions.IsSequencerAlone(options));
    }

    [Fact]
    public void Front_end_keeps_a_node_to_the_pool()
    {
        var options = new NodeOptions();
        options.Roles.Add(new NodeRoleOptions { Role = NodeRole.Sequencer });
        options.FrontEnds.Add(new FrontEndOptions("grpc", "127.0.0.1:0"));
        Assert.False(SocketCompletions.IsSequencerAlone(options));
    }
}
