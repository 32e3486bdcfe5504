using System.CommandLine;
using System.Globalization;

namespace Corfu.Load;

/// <summary>Rounds of one figure, each beside the machine's baselines.</summary>
/// <param name="result">The command line, for options of one command.</param>
internal sealed class ObjectRounds(ParseResult result, int rounds, MachineBaselines baselines)
{
    public ParseResult Result => result;

    /// <summary>The median of each figure. A first round, for connections and compiled code, does not count.</summary>
    public async Task<ObjectRound> RunAsync(Func<Task<ObjectRound>> measure)
    {
        await measure();
        var measured = new List<ObjectRound>();
        for (var i = 1; i <= rounds; i++)
        {
            await baselines.MeasureAsync();
            var round = await measure();
            measured.Add(round);
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                $"  round {i}: {round.Seconds:0.00} s, {round.Busy:0.00} s of this process' processor time, "
                + $"{round.Memory >> 20} MiB"));
        }

        return new ObjectRound(
            Median(measured.Select(static round => round.Seconds)), Median(measured.Select(static round => round.Busy)),
            (long)Median(measured.Select(static round => (double)round.Memory)));
    }

    private static double Median(IEnumerable<double> values)
    {
        var sorted = values.Order().ToArray();
        return sorted[sorted.Length / 2];
    }
}

/// <param name="Busy">Seconds of this process' processor time.</param>
/// <param name="Memory">Bytes on the heap that the object takes.</param>
internal sealed record ObjectRound(double Seconds, double Busy, long Memory);
