using System.Text;
using System.Text.Json.Nodes;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Integration.Tests.Hosting;

/// <summary>A role that no project of the product knows is configured, started, called, probed and stopped like those
/// of the log.</summary>
public sealed class NodeRoleTests
{
    [Fact]
    public async Task Node_serves_a_role_that_the_program_brings()
    {
        using var folder = new TempFolder();
        var (at, other) = (TestPorts.Endpoint(), TestPorts.Endpoint());
        var cluster = await NodeInit.FirstAsync(folder.File("log"), new NodeListen(other.ToString()));
        await using var log = await StartAsync(folder.File("log"), NodeRoles.Log);
        var role = new NoteRole();
        var roles = NodeRoles.Log.With(role);
        Assert.Equal(cluster,
            await NodeInit.JoinAsync(folder.File("own"), [other], [role], new NodeListen(at.ToString())));
        using var transport = new TcpTransport(new TcpTransportOptions { Cluster = cluster });
        NodeAddress note;
        await using (var node = await StartAsync(folder.File("own"), roles))
        {
            Assert.Contains("own (note) at", node.Ready, StringComparison.Ordinal);
            note = await FindAsync(transport, at);
            var first = await WriteAsync(transport, note, "first");
            var second = await WriteAsync(transport, note, "longer");
            Assert.Equal(("first", "longer"), (first(), second()));
            var unknown = await transport.CallAsync(note, new ConfirmEpochRequest(Epoch.First), default);
            Assert.Equal(Status.BadRequest, unknown.Status);

            var answer = await roles.ProbeAsync(transport, note, NoteRole.Number, default);
            Assert.Equal((true, "6 bytes"), (answer.Answers, answer.Detail));
            Assert.Equal("serving", roles.DutyIn(null, NoteRole.Number, note.Id, answer));
            // The log's own nodes know neither role nor opcode.
            var refused = await transport.CallAsync(
                await FindAsync(transport, other, NodeRole.Unit), new NoteRequest(Epoch.None, default), default);
            Assert.Equal(Status.Unsupported, refused.Status);
        }

        Assert.False(role.IsOpen);
        Assert.False((await roles.ProbeAsync(transport, note, NoteRole.Number, default)).Answers);
        await using (await StartAsync(folder.File("own"), roles))
        {
            Assert.Equal(note, await FindAsync(transport, at));
            Assert.Equal("longer", (await WriteAsync(transport, note, ""))());
        }
    }

    [Fact]
    public async Task Role_serves_a_second_handler_while_the_role_wants()
    {
        using var folder = new TempFolder();
        var (at, other) = (TestPorts.Endpoint(), TestPorts.Endpoint());
        var cluster = await NodeInit.FirstAsync(folder.File("log"), new NodeListen(other.ToString()));
        await using var log = await StartAsync(folder.File("log"), NodeRoles.Log);
        var role = new NoteRole();
        await NodeInit.JoinAsync(folder.File("own"), [other], [role], new NodeListen(at.ToString()));
        var file = folder.File("beside");
        await File.WriteAllBytesAsync(file, []);
        var beside = new NodeAddress(new NodeId(Guid.NewGuid()), at);
        using var transport = new TcpTransport(new TcpTransportOptions { Cluster = cluster });
        await using (await StartAsync(folder.File("own"), NodeRoles.Log.With(role)))
        {
            var own = await FindAsync(transport, at);
            Assert.True(role.Beside!.Add(NoteRole.HandlerOf(beside.Id, file)));
            Assert.Equal("more", (await WriteAsync(transport, beside, "more"))());
            Assert.Equal("", (await WriteAsync(transport, own, ""))());
            Assert.Throws<InvalidOperationException>(() => role.Beside.Add(NoteRole.HandlerOf(beside.Id, file)));
            Assert.True(role.Beside.Remove(beside.Id));
            Assert.False(role.Beside.Remove(beside.Id));
            await Assert.ThrowsAnyAsync<CorfuException>(() => WriteAsync(transport, beside, "gone"));
        }

        Assert.False(role.Beside.Add(NoteRole.HandlerOf(beside.Id, file)));
    }

    [Fact]
    public async Task Role_whose_data_is_gone_never_serves_again()
    {
        using var folder = new TempFolder();
        var at = TestPorts.Endpoint();
        var path = folder.File("node");
        var cluster = await NodeInit.FirstAsync(path, new NodeListen(at.ToString()));
        var config = JsonNode.Parse(await File.ReadAllTextAsync(Path.Combine(path, "node.json")))!;
        config["roles"]!.AsArray().Add(new JsonObject { ["role"] = "note", ["folder"] = "note" });
        await File.WriteAllTextAsync(Path.Combine(path, "node.json"), config.ToJsonString());
        RoleFolder.Format(Path.Combine(path, "note"), cluster, "Note", new NodeId(Guid.NewGuid()));
        var roles = NodeRoles.Log.With(new NoteRole());
        await using (var node = await StartAsync(path, roles))
            Assert.Contains("(unit, acceptor, sequencer, note)", node.Ready, StringComparison.Ordinal);
        Directory.Delete(Path.Combine(path, "note", "data"), recursive: true);
        await using (await StartAsync(path, roles))
        {
            using var transport = new TcpTransport(new TcpTransportOptions { Cluster = cluster });
            var answer = await transport.CallAsync(
                await FindAsync(transport, at), new NoteRequest(Epoch.None, default), default);
            Assert.Equal(Status.Failed, answer.Status);
        }
    }

    [Fact]
    public async Task Command_on_a_stopped_node_leaves_a_role_unknown_to_the_command()
    {
        using var folder = new TempFolder();
        var path = folder.File("node");
        await NodeInit.FirstAsync(path, new NodeListen(TestPorts.Address()));
        var file = Path.Combine(path, "node.json");
        var config = JsonNode.Parse(await File.ReadAllTextAsync(file))!;
        config["roles"]!.AsArray().Add(new JsonObject { ["role"] = "note", ["folder"] = "note" });
        await File.WriteAllTextAsync(file, config.ToJsonString());
        var unit = config["roles"]!.AsArray().Single(
            role => string.Equals((string?)role!["role"], "unit", StringComparison.OrdinalIgnoreCase))!;
        Directory.Delete(Path.Combine(path, (string)unit["folder"]!), recursive: true);
        UnitFormat.Run(path);
        var changed = JsonNode.Parse(await File.ReadAllTextAsync(file))!["roles"]!.AsArray();
        Assert.Contains(changed, role => (string?)role!["role"] == "note");
        Assert.DoesNotContain(changed, role => (string?)role!["id"] == (string?)unit["id"]);
    }

    [Fact]
    public async Task Role_that_the_program_does_not_have_is_named()
    {
        using var folder = new TempFolder();
        var path = folder.File("node.json");
        await File.WriteAllTextAsync(path, $$"""
            {
              "name": "n", "cluster": "{{Guid.NewGuid()}}", "listen": "nowhere",
              "roles": [ { "role": "note", "folder": "note" }, { "role": "unit", "folder": "unit" } ]
            }
            """);
        var fault = await Assert.ThrowsAsync<NodeStartException>(
            () => NodeRunner.RunAsync(path, TextWriter.Null, default));
        Assert.Contains("'note' is none that this program serves: Unit, Acceptor, Sequencer.", fault.Message,
            StringComparison.Ordinal);
        // All faults in one message.
        Assert.Contains("Listen: 'nowhere'", fault.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Role_whose_name_number_or_opcode_is_taken_is_refused()
    {
        Assert.Contains("name 'UNIT'", Refused(new OtherRole("UNIT", (NodeRole)129)), StringComparison.Ordinal);
        Assert.Contains("number 4", Refused(new OtherRole("Other", NodeRole.Agent)), StringComparison.Ordinal);
        Assert.Contains("number 1.", Refused(new OtherRole("Other", NodeRole.Unit)), StringComparison.Ordinal);
        Assert.Contains("opcode 128", Refused(new NoteRole(), new OtherRole("Other", (NodeRole)129)),
            StringComparison.Ordinal);
    }

    private static string Refused(params INodeRole[] roles) =>
        Assert.Throws<ArgumentException>(() => NodeRoles.Log.With(roles)).Message;

    private static async Task<NodeAddress> FindAsync(
        TcpTransport transport, NodeEndpoint at, NodeRole role = NoteRole.Number)
    {
        var description = await transport.DescribeAsync(at, default);
        return new NodeAddress(description.Roles.Single(found => found.Role == role).Id, at);
    }

    /// <summary>Returns the note that the answer holds, to be read after later answers have come.</summary>
    private static async Task<Func<string>> WriteAsync(TcpTransport transport, NodeAddress node, string text)
    {
        var request = new NoteRequest(Epoch.None, Encoding.UTF8.GetBytes(text));
        var answer = await transport.CallAsync(node, request, default);
        Assert.Equal(Status.Ok, answer.Status);
        return () => Encoding.UTF8.GetString(answer.Note.Span);
    }

    private static async Task<RunningNode> StartAsync(string folder, NodeRoles roles)
    {
        var stop = new CancellationTokenSource();
        var output = new ReadyLine();
        var running = NodeRunner.RunAsync(Path.Combine(folder, "node.json"), output, roles, [], stop.Token);
        if (await Task.WhenAny(running, output.Line) == running) await running;
        return new RunningNode(await output.Line, running, stop);
    }

    private sealed record RunningNode(string Ready, Task<int> Running, CancellationTokenSource Stop) : IAsyncDisposable
    {
        public async ValueTask DisposeAsync()
        {
            await Stop.CancelAsync();
            Assert.Equal(0, await Running);
            Stop.Dispose();
        }
    }

    private sealed class OtherRole(string name, NodeRole number) : INodeRole
    {
        public string Name => name;

        public NodeRole Role => number;

        public bool HasFolder => false;

        public void AddRequests(RequestTable table) => new NoteRole().AddRequests(table);

        public Task<RunningRole> OpenAsync(RoleStart start) => throw new NotSupportedException();

        public Task<RoleAnswer> ProbeAsync(
            ITransport transport, NodeAddress node, CancellationToken cancellationToken) =>
            throw new NotSupportedException();
    }
}
