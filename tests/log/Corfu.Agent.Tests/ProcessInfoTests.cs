using Corfu.Protocol;
using Corfu.TestKit;
using Corfu.Transport;

namespace Corfu.Agent.Tests;

public sealed class ProcessInfoTests
{
    private static readonly IdentityReport s_own = new("billing", AccessRole.Client, 1, 2, 3);

    private static readonly ProcessReport s_process = new()
    {
        Name = "a",
        Identities = [s_own, new IdentityReport("billing", AccessRole.Admin, 1, 0, 0),
            new IdentityReport("other", AccessRole.Client, 9, 9, 9)],
    };

    [Theory]
    [InlineData(AccessRole.Node)]
    [InlineData(AccessRole.Admin)]
    public async Task Admins_and_nodes_see_all_identities(AccessRole role) =>
        Assert.Equal(s_process.Identities, (await AskAsync(new Principal(role, "billing"))).Process!.Identities);

    [Fact]
    public async Task Client_sees_no_identity_but_the_own()
    {
        var answer = await AskAsync(new Principal(AccessRole.Client, "billing"));
        Assert.Equal([s_own], answer.Process!.Identities);
        Assert.Equal("a", answer.Process.Name);
    }

    [Fact]
    public async Task Agent_without_a_node_does_not_know_the_request() =>
        Assert.Equal(Status.Unsupported, (await AskAsync(Principal.Local, isHosted: false)).Status);

    private static Task<ProcessInfoResponse> AskAsync(Principal from, bool isHosted = true)
    {
        var probes = new TcpTransport(new TcpTransportOptions());
        var options = new AgentOptions
        {
            Self = new NodeEndpoint("test", 1000),
            Process = isHosted ? static () => Task.FromResult(s_process) : null,
        };
        var agent = new ClusterAgent(options, probes, probes, TimeProvider.System, new SeededEntropy(1));
        var sink = new Sink(from);
        agent.Handle(new ProcessInfoRequest(Epoch.None), new ReplyTo(sink, 1, Opcode.ProcessInfo));
        return sink.Answer;
    }

    private sealed class Sink(Principal principal) : IReplySink
    {
        private readonly TaskCompletionSource<ProcessInfoResponse> _answer = new();

        public Principal Principal => principal;

        public Task<ProcessInfoResponse> Answer => _answer.Task;

        public void Send(uint correlation, Opcode opcode, Response response) =>
            _answer.SetResult((ProcessInfoResponse)response);
    }
}
