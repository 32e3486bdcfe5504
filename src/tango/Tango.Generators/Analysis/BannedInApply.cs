using Microsoft.CodeAnalysis;

namespace Tango.Generators;

/// <summary>Names that give different answers in different processes, and why.</summary>
internal static class BannedInApply
{
    private const string Clock = "it reads a clock";
    private const string Chance = "it is random";
    private const string World = "it depends on the machine or process";
    private const string InputOutput = "it does input or output";
    private const string Waiting = "Apply is synchronous: nothing in it may wait, or run on another thread";
    private const string Culture = "it depends on the culture of the process";
    private const string Hash = "hash codes differ between processes";

    private static readonly Dictionary<string, string> Members = new()
    {
        ["System.DateTime.Now"] = Clock,
        ["System.DateTime.UtcNow"] = Clock,
        ["System.DateTime.Today"] = Clock,
        ["System.DateTimeOffset.Now"] = Clock,
        ["System.DateTimeOffset.UtcNow"] = Clock,
        ["System.Guid.NewGuid"] = Chance,
        ["System.Guid.CreateVersion7"] = Chance,
        ["System.DateTime.ToLocalTime"] = World,
        ["System.DateTimeOffset.ToLocalTime"] = World,
        ["System.DateTimeOffset.LocalDateTime"] = World,
        ["System.TimeZoneInfo.Local"] = World,
        ["System.Globalization.CultureInfo.CurrentCulture"] = Culture,
        ["System.Globalization.CultureInfo.CurrentUICulture"] = Culture,
        ["string.ToUpper"] = Culture,
        ["string.ToLower"] = Culture,
        ["string.CompareTo"] = Culture,
        ["object.GetHashCode"] = Hash,
        ["string.GetHashCode"] = Hash,
        ["System.ValueType.GetHashCode"] = Hash,
    };

    private static readonly Dictionary<string, string> Types = new()
    {
        ["System.Random"] = Chance,
        ["System.Security.Cryptography.RandomNumberGenerator"] = Chance,
        ["System.Diagnostics.Stopwatch"] = Clock,
        ["System.TimeProvider"] = Clock,
        ["System.Environment"] = World,
        ["System.AppContext"] = World,
        ["System.AppDomain"] = World,
        ["System.GC"] = World,
        ["System.HashCode"] = Hash,
        ["System.Console"] = InputOutput,
        ["System.Diagnostics.Process"] = InputOutput,
        ["System.Runtime.CompilerServices.RuntimeHelpers"] = Hash,
    };

    private static readonly (string Prefix, string Why)[] Namespaces =
        [("System.IO", InputOutput), ("System.Net", InputOutput), ("System.Threading", Waiting)];

    private static readonly HashSet<string> Harmless =
        ["System.Net.IPAddress", "System.Net.IPEndPoint", "System.Net.IPNetwork", "System.Net.WebUtility"];

    // Types with methods that take a culture in one form, and use the current culture in the others.
    private static readonly HashSet<string> CultureTypes =
        ["System.Double", "System.Single", "System.Decimal", "System.DateTime", "System.DateTimeOffset",
            "System.DateOnly", "System.TimeOnly"];

    /// <summary>Why a member must not be used, or null if it may.</summary>
    public static string? Why(ISymbol member)
    {
        if (member.ContainingType is not { TypeKind: not TypeKind.Enum } type) return null;
        string typeName = type.MetadataFullName();
        if (Types.TryGetValue(typeName, out string? why)) return why;
        if (Members.TryGetValue($"{type.OriginalDefinition.ToDisplayString()}.{member.Name}", out why))
            return IsCultureFree(member) ? null : why;
        if (member is IMethodSymbol method && UsesCurrentCulture(method, typeName)) return Culture;
        if (member is IMethodSymbol { Name: "GetHashCode", IsOverride: true } && type.IsRecord) return Hash;
        if (Harmless.Contains(typeName)) return null;
        string ns = type.ContainingNamespace?.ToDisplayString() ?? "";
        foreach ((string prefix, string reason) in Namespaces)
        {
            if (ns == prefix || ns.StartsWith(prefix + ".", StringComparison.Ordinal)) return reason;
        }
        return null;
    }

    // ToUpper(culture) says which culture; CompareTo has no such form.
    private static bool IsCultureFree(ISymbol member) =>
        member is IMethodSymbol { Name: "ToUpper" or "ToLower", Parameters.Length: 1 };

    private static bool UsesCurrentCulture(IMethodSymbol method, string typeName)
    {
        bool saysHow =
            method.Parameters.Any(p => p.Type.Name is "StringComparison" or "CultureInfo" or "IFormatProvider");
        if (saysHow) return false;
        if (typeName == "System.String")
        {
            // A search for a char, and Contains, are ordinal.
            return method.Name == "Compare"
                || (method.Name is "StartsWith" or "EndsWith" or "IndexOf" or "LastIndexOf"
                    && method.Parameters[0].Type.SpecialType == SpecialType.System_String);
        }
        return method.Name is "ToString" or "Parse" or "TryParse" && CultureTypes.Contains(typeName);
    }
}
