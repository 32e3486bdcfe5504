using System.Runtime.CompilerServices;

namespace Corfu.Protocol.Tests;

/// <summary>
/// The wire of the baseline, recorded: one file per opcode in <c>Golden/</c>, a line per sample message. A recording
/// changes never; a later version adds messages and fields behind those recorded here (docs/compatibility.md). Set
/// CORFU_RECORD=1 to record a new opcode.
/// </summary>
public sealed class GoldenTests
{
    private static readonly bool Recording = Environment.GetEnvironmentVariable("CORFU_RECORD") == "1";

    public static TheoryData<Opcode> Opcodes => [.. Enum.GetValues<Opcode>().Where(o => o != Opcode.None)];

    [Theory]
    [MemberData(nameof(Opcodes))]
    public void Messages_have_the_recorded_bytes(Opcode opcode)
    {
        var request = SampleMessages.Requests().Single(r => r.Opcode == opcode);
        var lines = new List<string> { $"request {Convert.ToHexString(SampleMessages.Frame(request))}" };
        foreach (var (_, response) in SampleMessages.Responses().Where(sample => sample.Request.Opcode == opcode))
            lines.Add($"{response.Status} {Convert.ToHexString(SampleMessages.Frame(opcode, response))}");
        var name = $"{(int)opcode:000}-{opcode}.txt";
        if (Recording) File.WriteAllLines(Path.Combine(SourceFolder(), name), lines);
        else Assert.Equal(File.ReadAllLines(Path.Combine(AppContext.BaseDirectory, "Golden", name)), lines);
    }

    [Fact]
    public void Every_recording_is_of_a_message()
    {
        var names = Directory.EnumerateFiles(Path.Combine(AppContext.BaseDirectory, "Golden"))
            .Select(Path.GetFileNameWithoutExtension);
        Assert.All(names, name => Assert.Contains(Opcodes, row => $"{(int)row.Data:000}-{row.Data}" == name));
    }

    private static string SourceFolder([CallerFilePath] string file = "") =>
        Path.Combine(Path.GetDirectoryName(file)!, "Golden");
}
