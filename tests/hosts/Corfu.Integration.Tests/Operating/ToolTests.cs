using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using Corfu.Integration.Tests.Support;

namespace Corfu.Integration.Tests.Operating;

/// <summary>Time limits, completion, signed backups and drills of the tool.</summary>
public sealed class ToolTests
{
    [Theory]
    [InlineData("status")]
    [InlineData("doctor")]
    [InlineData("backup")]
    public async Task Command_that_no_cluster_answers_ends_with_code_4(string command)
    {
        // The port accepts connections and says nothing.
        using var silent = new TcpListener(IPAddress.Loopback, 0);
        silent.Start();
        using var folder = new TempFolder();
        string[] more = command == "backup" ? ["--to", folder.Path] : [];
        var result = await CorfuTool.RunAsync(
            [command, "--connect", $"corfu://{silent.LocalEndpoint}", "--timeout", "0.5", .. more]);
        Assert.Equal((4, "No answer within 0.5 s. "), (result.ExitCode, result.Error[..24]));
    }

    [Fact]
    public async Task Certificate_of_a_silent_node_ends_with_code_4()
    {
        using var silent = new TcpListener(IPAddress.Loopback, 0);
        silent.Start();
        var result = await CorfuTool.RunAsync(
            "cert", "show", $"corfus://{silent.LocalEndpoint}", "--timeout", "0.5");
        Assert.Equal((4, "No answer within 0.5 s. "), (result.ExitCode, result.Error[..24]));
    }

    [Theory]
    [InlineData("cluster", "up")]
    [InlineData("cluster", "status")]
    [InlineData("cluster", "add-unit")]
    public async Task Time_limit_is_taken_by_commands_that_name_a_folder(params string[] command)
    {
        var result = await CorfuTool.RunAsync([.. command, "--dir", "x", "--timeout", "-1"]);
        Assert.Equal(2, result.ExitCode);
        Assert.Contains("--timeout must be between", result.Error, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Time_limit_that_is_no_time_is_refused()
    {
        var result = await CorfuTool.RunAsync("status", "--connect", "corfu://127.0.0.1:9", "--timeout", "-1");
        Assert.Equal(2, result.ExitCode);
        Assert.Contains("--timeout must be between", result.Error, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Completion_in_bash_offers_the_commands_of_the_tool()
    {
        Assert.SkipWhen(!File.Exists("/bin/bash"), "needs bash");
        var script = (await CorfuTool.RunAsync("completion", "bash")).Require().Output;
        var test = $$"""
            corfu() { dotnet {{CorfuTool.Assembly}} "$@"; }
            {{script}}
            COMP_LINE="corfu cl" COMP_POINT=8 COMP_WORDS=(corfu cl) COMP_CWORD=1
            _corfu_complete
            echo "${COMPREPLY[@]}"
            """;
        using var bash = Process.Start(new ProcessStartInfo("/bin/bash", ["-c", test])
        {
            RedirectStandardOutput = true,
        })!;
        Assert.Equal("cluster\n", await bash.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken));
    }

    [Theory]
    [InlineData("zsh", "compdef _corfu corfu")]
    [InlineData("fish", "complete -c corfu")]
    [InlineData("pwsh", "Register-ArgumentCompleter")]
    public async Task Completion_is_there_for_each_shell(string shell, string part) =>
        Assert.Contains(
            part, (await CorfuTool.RunAsync("completion", shell)).Require().Output, StringComparison.Ordinal);

    [Fact]
    public async Task Signed_backup_is_restored_as_a_drill_and_a_changed_one_is_refused()
    {
        using var folder = new TempFolder();
        await using var cluster = await Corfu.Hosting.EmbeddedCluster.StartAsync(
            new Corfu.Hosting.EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        (await CorfuTool.RunWithInputAsync(
            "a\nb\nc\n", "log", "append", "--connect", cluster.ConnectionString, "--lines")).Require();
        (await CorfuTool.RunAsync("log", "trim", "--connect", cluster.ConnectionString, "1")).Require();
        var id = cluster.Manifest.Cluster.ToString();
        await Cert("init", "--dir", folder.File("ca"), "--cluster", id);
        await Cert("init", "--dir", folder.File("other-ca"), "--cluster", id);
        foreach (var role in (string[])["admin", "client"])
            await Cert("issue", "--ca", folder.File("ca"), "--role", role, "--name", "op", "--to", folder.File(role));
        var to = folder.File("backup");
        string[] backup = ["backup", "--connect", cluster.ConnectionString, "--to", to, "--sign"];
        var asClient = await CorfuTool.RunAsync([.. backup, folder.File("client")]);
        Assert.Contains("may not sign backups", asClient.Error, StringComparison.Ordinal);
        (await CorfuTool.RunAsync([.. backup, folder.File("admin"), "--metrics", folder.File("b.prom")])).Require();
        Assert.Contains("corfu_backup_finished_timestamp_seconds ", File.ReadAllText(folder.File("b.prom")),
            StringComparison.Ordinal);

        var sound = (await CorfuTool.RunAsync("backup", "verify", to, "--signed-by", folder.File("ca"))).Require();
        Assert.EndsWith($", signed by corfu://{id}/admin/op\n", sound.Output, StringComparison.Ordinal);
        var other = await CorfuTool.RunAsync("backup", "verify", to, "--signed-by", folder.File("other-ca"));
        Assert.Contains("has not issued", other.Error, StringComparison.Ordinal);

        var drill = (await CorfuTool.RunAsync("backup", "drill", "--from", to, "--signed-by", folder.File("ca"),
            "--work", folder.File("work"), "--metrics", folder.File("d.prom"))).Require();
        Assert.Equal("restored and compared: every position up to 3 is as in the backup\n", drill.Output);
        Assert.False(Directory.Exists(folder.File("work")));
        Assert.Contains("corfu_backup_restore_verified_timestamp_seconds ", File.ReadAllText(folder.File("d.prom")),
            StringComparison.Ordinal);
        Assert.True(File.Exists(Path.Combine(to, "drill.json")));

        // A writer of the folder brings content, hashes and checks to fit: the signature does not.
        var manifest = Corfu.Backup.BackupManifest.Decode(File.ReadAllBytes(Path.Combine(to, "manifest.json")));
        File.WriteAllBytes(Path.Combine(to, "manifest.json"),
            (manifest with { Written = manifest.Written.AddSeconds(1) }).Encode());
        (await CorfuTool.RunAsync("backup", "verify", to)).Require();
        var changed = await CorfuTool.RunAsync("backup", "verify", to, "--signed-by", folder.File("ca"));
        Assert.Contains("is of another manifest", changed.Error, StringComparison.Ordinal);
    }

    private static async Task Cert(params string[] arguments) =>
        (await CorfuTool.RunAsync(["cert", .. arguments])).Require();
}
