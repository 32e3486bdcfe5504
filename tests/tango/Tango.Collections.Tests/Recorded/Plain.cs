using System.Collections;
using System.Globalization;
using System.Reflection;

namespace Tango.Collections.Tests.Recorded;

/// <summary>Values as text that shows all they hold, so that values without an equality of their own can be
/// compared.</summary>
internal static class Plain
{
    public static void Equal<T>(T expected, T actual) => Assert.Equal(Of(expected), Of(actual));

    private static string Of(object? value)
    {
        switch (value)
        {
            case null: return "null";
            case string text: return $"'{text}'";
            case ReadOnlyMemory<byte> memory: return $"memory {Convert.ToHexString(memory.Span)}";
            case byte[] bytes: return $"bytes {Convert.ToHexString(bytes)}";
            case DateTime or DateTimeOffset or DateOnly or TimeOnly:
                return $"{value.GetType().Name} {((IFormattable)value).ToString("O", CultureInfo.InvariantCulture)}";
            case IEnumerable items: return Items(items);
            case IFormattable number:
                return $"{value.GetType().Name} {number.ToString(null, CultureInfo.InvariantCulture)}";
            case bool or char: return $"{value.GetType().Name} {value}";
            default: return Members(value);
        }
    }

    private static string Items(IEnumerable items)
    {
        Type type = items.GetType();
        if (type.GetProperty("IsDefault")?.GetValue(items) is true) return $"{type.Name} default";
        IEnumerable<string> texts = items.Cast<object?>().Select(Of);
        // Hash order differs between processes.
        bool isUnordered = type.Name.StartsWith("Dictionary", StringComparison.Ordinal)
            || type.Name.StartsWith("HashSet", StringComparison.Ordinal)
            || type.Name.StartsWith("ImmutableDictionary", StringComparison.Ordinal)
            || type.Name.StartsWith("ImmutableHashSet", StringComparison.Ordinal);
        if (isUnordered) texts = texts.Order(StringComparer.Ordinal);
        return $"{type.Name} [{string.Join(", ", texts)}]";
    }

    private static string Members(object value)
    {
        IEnumerable<string> parts = value.GetType()
            .GetProperties(BindingFlags.Instance | BindingFlags.Public)
            .Where(p => p.GetIndexParameters().Length == 0)
            .Select(p => $"{p.Name}: {Of(p.GetValue(value))}");
        IEnumerable<string> fields = value.GetType()
            .GetFields(BindingFlags.Instance | BindingFlags.Public)
            .Select(f => $"{f.Name}: {Of(f.GetValue(value))}");
        return $"{value.GetType().Name} {{{string.Join(", ", parts.Concat(fields))}}}";
    }
}
