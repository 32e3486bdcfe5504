using System.Net;
using System.Net.Sockets;
using Corfu.Integration.Tests.Support;

namespace Corfu.Integration.Tests.Tool;

/// <summary>Messages and exit codes for wrong use: part of the tool's interface.</summary>
public sealed class UsageTests
{
    [Theory]
    [InlineData("nonsense", "Unrecognized command or argument 'nonsense'.\nSee 'corfu --help'.\n")]
    [InlineData("cluster up", "Option '--dir' is required.\nSee 'corfu cluster up --help'.\n")]
    [InlineData(
        "cluster up --dir nowhere --units 2 --replicas 5",
        "The number of replicas must be between 1 and the number of units (2), not 5.\n")]
    [InlineData(
        "cluster up --dir nowhere --host 10.0.0.1 --tls --insecure", "TLS and --insecure exclude each other.\n")]
    [InlineData("log read --connect corfu://127.0.0.1:1 x5",
        "'x5' is no position: a number, or epoch and number as in e5:1042.\nSee 'corfu log read --help'.\n")]
    [InlineData("log dump --connect corfu://127.0.0.1:1 --stream ",
        "'' is no stream: a name, or a number below 2^64.\nSee 'corfu log dump --help'.\n")]
    [InlineData("log append --connect corfu://127.0.0.1:1 --stream 18446744073709551616",
        "'18446744073709551616' is no stream: a name, or a number below 2^64.\nSee 'corfu log append --help'.\n")]
    [InlineData("log append --connect corfu://127.0.0.1:1 --in-flight 0",
        "--in-flight must be between 1 and 65536.\nSee 'corfu log append --help'.\n")]
    [InlineData(
        "log append --connect corfu://127.0.0.1:1 --in-flight x",
        "Cannot parse argument 'x' for option '--in-flight' as expected type 'System.Int32'.\nSee 'corfu log append "
        + "--help'.\n")]
    [InlineData("log trim --connect corfu://127.0.0.1:1",
        "Give either a position, --below P or --unneeded.\nSee 'corfu log trim --help'.\n")]
    [InlineData(
        "log tail --connect 127.0.0.1:1",
        "A connection string starts with corfu:// or corfus://, as in corfu://127.0.0.1:7001,127.0.0.1:7002; this "
        + "one is '127.0.0.1:1'.\n")]
    public async Task Wrong_flags_are_named_and_have_no_effect(string arguments, string message)
    {
        var result = await CorfuTool.RunAsync(arguments.Split(' '));
        Assert.Equal(2, result.ExitCode);
        Assert.Equal(message, result.Error);
        Assert.Equal("", result.Output);
        Assert.False(Directory.Exists("nowhere"));
    }

    [Fact]
    public async Task Group_alone_lists_all_commands()
    {
        var result = await CorfuTool.RunProcessAsync("log");
        Assert.Equal(2, result.ExitCode);
        foreach (var command in new[] { "append", "read", "tail", "dump", "fill", "trim" })
            Assert.Contains($"\n  {command} ", result.Error, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_occupied_port_is_named_before_a_cluster_is_made()
    {
        using var folder = new TempFolder();
        var first = TestPorts.Take(2);
        using var squatter = new TcpListener(IPAddress.Loopback, first + 1);
        squatter.Start();
        var result = await CorfuTool.RunAsync("cluster", "up", "--dir", folder.File("cluster"), "--units", "1",
            "--replicas", "1", "--port", $"{first}");
        Assert.Equal(1, result.ExitCode);
        Assert.Contains($"port {first + 1}", result.Error, StringComparison.Ordinal);
        Assert.False(File.Exists(folder.File("cluster/cluster.json")));
    }

    [Fact]
    public async Task A_folder_that_cannot_be_made_is_named()
    {
        using var folder = new TempFolder();
        await File.WriteAllTextAsync(folder.File("file"), "in the way");
        var result = await CorfuTool.RunAsync("cluster", "up", "--dir", folder.File("file/cluster"));
        Assert.Equal(1, result.ExitCode);
        Assert.StartsWith($"The cluster folder {folder.File("file/cluster")} cannot be used:", result.Error,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task Help_is_no_error()
    {
        var result = await CorfuTool.RunAsync("cluster", "up", "--help");
        Assert.Equal(0, result.ExitCode);
        foreach (var option in new[] { "--dir", "--units", "--replicas", "--insecure", "--json" })
            Assert.Contains(option, result.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Error_names_the_endpoint_that_does_not_answer()
    {
        var result = await CorfuTool.RunAsync("log", "tail", "--connect", "corfu://127.0.0.1:1");
        Assert.Equal(1, result.ExitCode);
        Assert.StartsWith("No layout acceptor answers at corfu://127.0.0.1:1 (", result.Error,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task Configuration_file_with_faults_is_refused_with_all_faults()
    {
        using var folder = new TempFolder();
        var file = folder.File("node.json");
        await File.WriteAllTextAsync(
            file,
            """{ "name": "", "cluster": "00000000-0000-0000-0000-000000000000", "listen": "10.0.0.1:7000","""
            + """ "insecure": false, "roles": [] }""");
        var result = await CorfuTool.RunAsync("node", "--config", file);
        Assert.Equal(1, result.ExitCode);
        foreach (var part in new[] { "Name:", "Cluster:", "Listen:", "Roles:" })
            Assert.Contains(part, result.Error, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_configuration_file_that_is_no_json_is_named()
    {
        using var folder = new TempFolder();
        var file = folder.File("node.json");
        await File.WriteAllTextAsync(file, "units: 3");
        var result = await CorfuTool.RunAsync("node", "--config", file);
        Assert.Equal(1, result.ExitCode);
        Assert.StartsWith($"The file {file} is not valid:", result.Error, StringComparison.Ordinal);
    }
}
