using System.Diagnostics;
using System.Text.Json;
using System.Text.RegularExpressions;
using Corfu.Integration.Tests.Architecture;
using Corfu.Integration.Tests.Support;

namespace Corfu.Integration.Tests.Operating;

/// <summary>Files of deploy/, checked as far as this machine has the tools. No container engine runs them.</summary>
public sealed partial class DeployTests
{
    private const string Analyze = "systemd-analyze";

    private static readonly string s_systemd = Path.Combine(Repository.Root, "deploy", "systemd");
    private static readonly string s_docker = Path.Combine(Repository.Root, "deploy", "docker");

    public static TheoryData<string> Units =>
    [
        .. Directory.EnumerateFiles(s_systemd).Where(file => Path.GetExtension(file) is ".service" or ".timer")
            .Select(file => Path.GetFileName(file)).Order(),
    ];

    public static TheoryData<string> Services => [.. Units.Select(row => row.Data).Where(n => n.EndsWith(".service"))];

    [Theory]
    [MemberData(nameof(Units))]
    public void Unit_passes_the_check_of_systemd(string unit)
    {
        using var tree = new TempFolder();
        var system = tree.File("etc/systemd/system");
        Copy("/lib/systemd/system", tree.File("lib/systemd/system"));
        Copy(s_systemd, system);
        // Programs that the units start, as stubs.
        foreach (var program in (string[])["usr/lib/corfu/corfu", "usr/lib/corfu/corfu-backup", "bin/sh", "bin/kill"])
        {
            Directory.CreateDirectory(Path.GetDirectoryName(tree.File(program))!);
            File.WriteAllText(tree.File(program), "#!/bin/sh\n");
            if (!OperatingSystem.IsWindows())
                File.SetUnixFileMode(tree.File(program), UnixFileMode.UserExecute | UnixFileMode.UserRead);
        }

        var (code, said) = Run(Analyze, "verify", $"--root={tree.Path}", "--man=no", unit.Replace("@.", "@a."));
        Assert.Equal((0, ""), (code, said.Trim()));
    }

    [Theory]
    [MemberData(nameof(Services))]
    public void Service_is_exposed_by_no_more_than_25_of_100(string service)
    {
        var (code, said) = Run(Analyze, "security", "--offline=yes", "--threshold=25", "--no-pager",
            Path.Combine(s_systemd, service));
        Assert.True(code == 0, said);
    }

    [Fact]
    public void Service_of_a_node_has_the_settings_that_the_reference_names()
    {
        var unit = File.ReadAllLines(Path.Combine(s_systemd, "corfu@.service"));
        string[] wanted =
        [
            "Type=notify", "StateDirectory=corfu/%i", "ProtectSystem=strict", "CapabilityBoundingSet=",
            "SystemCallFilter=@system-service", "LimitNOFILE=65536", "OOMScoreAdjust=-500", "Restart=always",
            "UMask=0077", "User=corfu",
        ];
        Assert.All(wanted, line => Assert.Contains(line, unit));
        // The runtime compiles while it runs.
        Assert.DoesNotContain(unit, line => line.StartsWith("MemoryDenyWriteExecute", StringComparison.Ordinal));
    }

    [Fact]
    public void Image_has_two_stages_and_a_user_without_rights()
    {
        var lines = File.ReadAllLines(Path.Combine(s_docker, "Dockerfile"))
            .Select(line => line.Trim()).Where(line => line.Length > 0 && line[0] != '#').ToList();
        var stages = lines.Where(line => line.StartsWith("FROM ", StringComparison.Ordinal)).ToList();
        Assert.Equal(2, stages.Count);
        Assert.EndsWith("aspnet:10.0-noble-chiseled", stages[1], StringComparison.Ordinal);
        var last = lines.SkipWhile(line => line != stages[1]).Skip(1).ToList();
        Assert.Contains("USER 1654", last);
        Assert.Contains("VOLUME /data", last);
        // An image without a shell runs no RUN, and takes commands as lists alone.
        Assert.DoesNotContain(last, line => line.StartsWith("RUN ", StringComparison.Ordinal));
        foreach (var command in last.Where(line => Command().IsMatch(line)))
            Assert.NotEmpty(JsonSerializer.Deserialize<string[]>(command[(command.IndexOf(' ') + 1)..])!);
        foreach (var copy in last.Where(line => line.StartsWith("COPY ", StringComparison.Ordinal)))
            Assert.Contains("--from=build", copy, StringComparison.Ordinal);
    }

    [Fact]
    public void Compose_names_three_hosts_after_a_job_for_certificates()
    {
        const string Script = "import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout)";
        Assert.SkipWhen(Run("python3", "-c", "import yaml").Code != 0, "needs python3 with yaml");
        var (code, json) = Run("python3", "-c", Script, Path.Combine(s_docker, "compose.yaml"));
        Assert.True(code == 0, json);
        using var document = JsonDocument.Parse(json);
        var services = document.RootElement.GetProperty("services");
        foreach (var host in (string[])["a", "b", "c"])
        {
            var node = services.GetProperty(host);
            Assert.Equal(["node", "--config", "/data/node/node.json"],
                node.GetProperty("command").EnumerateArray().Select(word => word.GetString()));
            Assert.True(node.GetProperty("read_only").GetBoolean());
            var init = services.GetProperty($"init-{host}");
            var address = node.GetProperty("networks").GetProperty("hosts").GetProperty("ipv4_address").GetString()!;
            var command = init.GetProperty("command")[0].GetString()!;
            Assert.Contains($"--listen {address}:7000 --certs /certs", command, StringComparison.Ordinal);
            Assert.DoesNotContain("--insecure", command, StringComparison.Ordinal);
            Assert.Equal("service_completed_successfully", node.GetProperty("depends_on").GetProperty($"init-{host}")
                .GetProperty("condition").GetString());
        }

        var issued = services.GetProperty("certificates").GetProperty("command")[0].GetString()!;
        Assert.Contains("cert init", issued, StringComparison.Ordinal);
        Assert.Equal("service_completed_successfully", services.GetProperty("init-a").GetProperty("depends_on")
            .GetProperty("certificates").GetProperty("condition").GetString());
        var volumes = document.RootElement.GetProperty("volumes").EnumerateObject().Select(one => one.Name).ToHashSet();
        var used = services.EnumerateObject()
            .SelectMany(service => service.Value.TryGetProperty("volumes", out var own)
                ? own.EnumerateArray().Select(volume => volume.GetString()!.Split(':')[0])
                : []);
        Assert.All(used, volume => Assert.Contains(volume, volumes));
    }

    private static (int Code, string Said) Run(string program, params string[] arguments)
    {
        try
        {
            using var process = Process.Start(new ProcessStartInfo(program, arguments)
            {
                RedirectStandardOutput = true,
                RedirectStandardError = true,
            })!;
            var error = process.StandardError.ReadToEndAsync();
            var output = process.StandardOutput.ReadToEnd();
            process.WaitForExit();
            return (process.ExitCode, output + error.Result);
        }
        catch (System.ComponentModel.Win32Exception)
        {
            Assert.Skip($"{program} is not installed");
            throw;
        }
    }

    private static void Copy(string from, string to)
    {
        Assert.SkipWhen(!Directory.Exists(from), $"{from} is missing: no systemd here");
        Directory.CreateDirectory(to);
        foreach (var file in Directory.EnumerateFiles(from))
        {
            if (new FileInfo(file) is { LinkTarget: null }) File.Copy(file, Path.Combine(to, Path.GetFileName(file)));
        }
    }

    [GeneratedRegex("^(CMD|ENTRYPOINT) ")]
    private static partial Regex Command();
}
