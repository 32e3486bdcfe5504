using System.Diagnostics;
using System.Globalization;
using System.Reflection;
using BenchmarkDotNet.Attributes;

namespace Corfu.Benchmarks;

/// <summary>A benchmark as load for a profiler, without BenchmarkDotNet around it: its setup, its method again and
/// again, its clean-up.</summary>
internal static class Drive
{
    public const string Name = "drive";

    /// <summary>Printed when the warm-up is over.</summary>
    private const string Ready = "measuring";

    private const string Usage = "drive CLASS.METHOD WARM_UP_SECONDS SECONDS [PARAMETER=VALUE...]";

    // A caller alone would take minutes to bring the code of client and nodes to its last tier.
    private const string Window = nameof(ClusterBenchmarks.InFlight);
    private const int WarmUpWindow = 64;

    public static async Task<int> RunAsync(string[] args)
    {
        if (args.Length < 3 || args[0].Split('.') is not [var typeName, var methodName]
            || !double.TryParse(args[1], CultureInfo.InvariantCulture, out var warmUp)
            || !double.TryParse(args[2], CultureInfo.InvariantCulture, out var seconds)
            || typeof(Drive).Assembly.GetType($"{typeof(Drive).Namespace}.{typeName}") is not { IsAbstract: false } type
            || type.GetMethod(methodName) is not { } method
            || method.GetCustomAttribute<BenchmarkAttribute>() is not { } benchmark)
        {
            await Console.Error.WriteLineAsync($"{Usage}; '{string.Join(' ', args)}' names no benchmark.");
            return 2;
        }

        var instance = Activator.CreateInstance(type)!;
        try
        {
            foreach (var assignment in args.Skip(3)) Assign(instance, assignment);
        }
        catch (Exception e) when (e is ArgumentException or FormatException or OverflowException)
        {
            await Console.Error.WriteLineAsync(e.Message);
            return 2;
        }

        using var folder = new RunFolder();
        await CallAsync(instance, Find<GlobalSetupAttribute>(type, methodName));
        try
        {
            var window = type.GetProperty(Window)?.GetValue(instance);
            if (window is not null) Assign(instance, $"{Window}={WarmUpWindow}");
            await RepeatAsync(instance, method, warmUp);
            if (window is not null) Assign(instance, $"{Window}={window}");
            Console.WriteLine(Ready);
            var rate = benchmark.OperationsPerInvoke * await RepeatAsync(instance, method, seconds);
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"operations_per_second={rate:0}"));
        }
        finally
        {
            await CallAsync(instance, Find<GlobalCleanupAttribute>(type, methodName));
        }

        return 0;
    }

    /// <returns>Calls per second.</returns>
    private static async Task<double> RepeatAsync(object instance, MethodInfo method, double seconds)
    {
        var (began, calls) = (Stopwatch.GetTimestamp(), 0L);
        while (Stopwatch.GetElapsedTime(began).TotalSeconds < seconds)
        {
            await CallAsync(instance, method);
            calls++;
        }

        return calls / Stopwatch.GetElapsedTime(began).TotalSeconds;
    }

    private static void Assign(object instance, string assignment)
    {
        var (name, value) = assignment.Split('=') is [var left, var right] ? (left, right) : (assignment, "");
        var property = instance.GetType().GetProperty(name)
            ?? throw new ArgumentException($"{instance.GetType().Name} has no parameter '{name}'.");
        property.SetValue(instance, property.PropertyType.IsEnum
            ? Enum.Parse(property.PropertyType, value)
            : Convert.ChangeType(value, property.PropertyType, CultureInfo.InvariantCulture));
    }

    // The one for this benchmark alone comes before the one for all.
    private static MethodInfo? Find<T>(Type type, string benchmark)
        where T : TargetedAttribute =>
        type.GetMethods()
            .Select(static method => (Method: method, Attribute: method.GetCustomAttribute<T>()))
            .Where(pair => pair.Attribute is { } attribute
                && (attribute.Targets.Length == 0 || attribute.Targets.Contains(benchmark)))
            .OrderByDescending(static pair => pair.Attribute!.Targets.Length)
            .Select(static pair => pair.Method)
            .FirstOrDefault();

    private static async Task CallAsync(object instance, MethodInfo? method)
    {
        switch (method?.Invoke(instance, null))
        {
            case Task task:
                await task;
                break;
            case ValueTask task:
                await task;
                break;
        }
    }
}
