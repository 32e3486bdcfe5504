using System.Collections.Immutable;
using System.Diagnostics;

namespace Tango.Tests.Formatting;

/// <summary>A decoder that shares no code with ours: Python's msgpack, where it is installed.</summary>
public sealed class ForeignDecoderTests
{
    [Fact]
    public void Python_msgpack_reads_formatted_values()
    {
        if (Run("import msgpack") is null) Assert.Skip("python3 with the msgpack module is not installed");
        var value = ImmutableSortedDictionary<int, (string, double, byte[], int[])>.Empty
            .Add(-70000, ("hé", 1.5, [1, 2], [1, -1, 70000]))
            .Add(3, ("", -0.5, [], []));
        string hex = Packed.Hex(value);
        string? printed = Run($"import msgpack; print(msgpack.unpackb(bytes.fromhex('{hex}'), strict_map_key=False))");
        Assert.Equal("{-70000: ['hé', 1.5, b'\\x01\\x02', [1, -1, 70000]], 3: ['', -0.5, b'', []]}", printed?.Trim());
    }

    internal static string? Run(string script)
    {
        try
        {
            var info = new ProcessStartInfo("python3", ["-c", script])
            {
                RedirectStandardOutput = true,
                RedirectStandardError = true,
                Environment = { ["PYTHONIOENCODING"] = "utf-8" },
            };
            using Process process = Process.Start(info)!;
            string output = process.StandardOutput.ReadToEnd();
            process.WaitForExit();
            return process.ExitCode == 0 ? output : null;
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return null;
        }
    }
}
