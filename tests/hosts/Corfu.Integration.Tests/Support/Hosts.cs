using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;

namespace Corfu.Integration.Tests.Support;

/// <summary>Network namespaces on a bridge of their own, one for each host. They go with the test.</summary>
internal sealed partial class Hosts : IDisposable
{
    private const string Prefix = "corfu-host";
    private readonly List<string> _namespaces = [];

    private static string Hub => $"{Prefix}{Environment.ProcessId}-hub";

    public static string AddressOf(int host) => string.Create(CultureInfo.InvariantCulture, $"10.78.0.{host}");

    /// <summary>Null, or why this machine has no namespaces.</summary>
    public static string? WhyNot()
    {
        if (!OperatingSystem.IsLinux()) return "needs network namespaces";
        if (Environment.UserName != "root") return "needs root, for network namespaces";
        DropLeftOvers();
        var probe = $"{Prefix}{Environment.ProcessId}-probe";
        var error = Try($"ip netns add {probe} && ip link add br0 netns {probe} type bridge && ip link add v0 netns "
            + $"{probe} type veth peer name v1 netns {probe}");
        Try($"ip netns del {probe}");
        return error is null ? null : $"needs network namespaces: {error}";
    }

    public static Hosts Create(int count)
    {
        var hosts = new Hosts();
        try
        {
            hosts.Add(Hub);
            Require($"ip link add br0 netns {Hub} type bridge && ip -n {Hub} link set br0 up");
            for (var host = 1; host <= count; host++)
            {
                var ns = Name(host);
                hosts.Add(ns);
                Require($"ip link add v{host} netns {Hub} type veth peer name eth0 netns {ns}");
                Require($"ip -n {Hub} link set v{host} master br0 up");
                Require($"ip -n {ns} addr add {AddressOf(host)}/24 dev eth0 && ip -n {ns} link set eth0 up");
            }

            return hosts;
        }
        catch
        {
            hosts.Dispose();
            throw;
        }
    }

    /// <summary>The words before a command that runs on a host.</summary>
    public static string[] On(int host) => ["nsenter", $"--net=/run/netns/{Name(host)}", "--"];

    /// <summary>The host's cable is pulled, or put back.</summary>
    public static void SetLink(int host, bool up) => Require($"ip -n {Hub} link set v{host} {(up ? "up" : "down")}");

    public void Dispose()
    {
        foreach (var ns in _namespaces) Try($"ip netns del {ns}");
    }

    private static string Name(int host) => $"{Prefix}{Environment.ProcessId}-{host}";

    // Removes namespaces of test processes that were killed.
    private static void DropLeftOvers()
    {
        if (!Directory.Exists("/run/netns")) return;
        foreach (var path in Directory.EnumerateFiles("/run/netns", Prefix + "*"))
        {
            var name = Path.GetFileName(path);
            if (!Directory.Exists("/proc/" + OwnerPattern().Match(name).Groups[1].Value)) Try($"ip netns del {name}");
        }
    }

    [GeneratedRegex("^corfu-host([0-9]+)-")]
    private static partial Regex OwnerPattern();

    private void Add(string ns)
    {
        _namespaces.Add(ns);
        Require($"ip netns add {ns} && ip -n {ns} link set lo up");
    }

    private static void Require(string line) => Assert.Null(Try(line));

    private static string? Try(string line)
    {
        using var shell = Process.Start(new ProcessStartInfo("/bin/sh", ["-c", line])
        {
            RedirectStandardError = true,
        })!;
        var error = shell.StandardError.ReadToEnd();
        shell.WaitForExit();
        return shell.ExitCode == 0 ? null : $"'{line}' failed: {error.Trim()}";
    }
}
