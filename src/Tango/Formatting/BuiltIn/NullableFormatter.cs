namespace Tango.Formatting;

internal sealed class NullableFormatter<T> : ITangoFormatter<T?>
    where T : struct
{
    private ITangoFormatter<T> _value = null!;

    public bool IsVersionKey => _value.IsVersionKey;

    public void Resolve() => _value = TangoFormatters.Get<T>();

    public void Write(ref MessagePackWriter writer, T? value)
    {
        if (value is { } present) _value.Write(ref writer, present);
        else writer.WriteNil();
    }

    public T? Read(ref MessagePackReader reader) => reader.TryReadNil() ? null : _value.Read(ref reader);
}
