using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace Corfu.Newcomer;

/// <summary>The texts that an editor shows for what is public in an assembly. The rules of docs/rules.md are for those
/// who change the code: their numbers mean nothing to a user.</summary>
internal static partial class Documentation
{
    /// <returns>Rule numbers that public members' texts cite, a line each.</returns>
    public static IEnumerable<string> RuleNumbers(Stream assembly, Stream documentation)
    {
        using var file = new PEReader(assembly);
        var visible = VisibleNames(file.GetMetadataReader());
        foreach (var member in XDocument.Load(documentation).Descendants("member"))
        {
            var name = member.Attribute("name")!.Value;
            if (Rule().Match(member.Value) is { Success: true } rule && visible.Contains(Plain(name)))
                yield return $"{name} cites {rule.Value}";
        }
    }

    // Overloads have one name here, and count as visible if one of them is.
    private static HashSet<string> VisibleNames(MetadataReader reader)
    {
        var names = new HashSet<string>();
        foreach (var handle in reader.TypeDefinitions)
        {
            if (VisibleName(reader, handle) is not { } type) continue;
            var definition = reader.GetTypeDefinition(handle);
            names.Add(type);
            foreach (var method in definition.GetMethods().Select(reader.GetMethodDefinition))
            {
                if (!IsVisible((int)(method.Attributes & MethodAttributes.MemberAccessMask))) continue;
                var name = reader.GetString(method.Name);
                names.Add($"{type}.{name}");
                // An accessor stands for its property.
                names.Add($"{type}.{name[(name.IndexOf('_') + 1)..]}");
            }

            foreach (var field in definition.GetFields().Select(reader.GetFieldDefinition))
            {
                if (IsVisible((int)(field.Attributes & FieldAttributes.FieldAccessMask)))
                    names.Add($"{type}.{reader.GetString(field.Name)}");
            }
        }

        return names;
    }

    // Null: the type, or one that it is nested in, cannot be used outside the assembly.
    private static string? VisibleName(MetadataReader reader, TypeDefinitionHandle handle)
    {
        var definition = reader.GetTypeDefinition(handle);
        var name = reader.GetString(definition.Name);
        var visibility = definition.Attributes & TypeAttributes.VisibilityMask;
        if (visibility == TypeAttributes.Public) return Plain($"T:{reader.GetString(definition.Namespace)}.{name}");
        if (visibility is not (TypeAttributes.NestedPublic or TypeAttributes.NestedFamily
            or TypeAttributes.NestedFamORAssem)) return null;
        return VisibleName(reader, definition.GetDeclaringType()) is { } outer ? Plain($"T:{outer}.{name}") : null;
    }

    // Methods and fields have the same values.
    private static bool IsVisible(int access) => (MethodAttributes)access
        is MethodAttributes.Public or MethodAttributes.Family or MethodAttributes.FamORAssem;

    // Without the kind, the parameters and the numbers of type parameters: M:A.B`1.C``2(D) is A.B.C.
    private static string Plain(string name) =>
        Arity().Replace(name.Split('(')[0][2..].Replace("#ctor", ".ctor", StringComparison.Ordinal), "");

    [GeneratedRegex(@"`+\d+")]
    private static partial Regex Arity();

    [GeneratedRegex(@"\bR([1-9]|1\d|2[0-3])\b")]
    private static partial Regex Rule();
}
