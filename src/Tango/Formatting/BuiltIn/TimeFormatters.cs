namespace Tango.Formatting;

/// <summary>Read back as UTC; a local time changes its kind, which is why it is no version key.</summary>
internal sealed class DateTimeFormatter : ITangoFormatter<DateTime>
{
    public void Write(ref MessagePackWriter writer, DateTime value) => writer.Write(value);

    public DateTime Read(ref MessagePackReader reader) => reader.ReadDateTime();
}

/// <summary>[the clock time as a timestamp, the offset in minutes]: two equal instants may differ in bytes.</summary>
internal sealed class DateTimeOffsetFormatter : ITangoFormatter<DateTimeOffset>
{
    public void Write(ref MessagePackWriter writer, DateTimeOffset value)
    {
        writer.WriteArrayHeader(2);
        writer.Write(new DateTime(value.Ticks, DateTimeKind.Utc));
        writer.Write((short)value.TotalOffsetMinutes);
    }

    public DateTimeOffset Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(2);
        long ticks = reader.ReadDateTime().Ticks;
        short minutes = reader.ReadInt16();
        try
        {
            return new DateTimeOffset(ticks, TimeSpan.FromMinutes(minutes));
        }
        catch (ArgumentException e)
        {
            throw reader.Error(FormatError.OutOfRange, "The offset does not fit a DateTimeOffset", e);
        }
    }
}

internal sealed class TimeSpanFormatter : ITangoFormatter<TimeSpan>
{
    public bool IsVersionKey => true;

    public void Write(ref MessagePackWriter writer, TimeSpan value) => writer.Write(value.Ticks);

    public TimeSpan Read(ref MessagePackReader reader) => new(reader.ReadInt64());
}

internal sealed class DateOnlyFormatter : ITangoFormatter<DateOnly>
{
    public bool IsVersionKey => true;

    public void Write(ref MessagePackWriter writer, DateOnly value) => writer.Write(value.DayNumber);

    public DateOnly Read(ref MessagePackReader reader)
    {
        int day = reader.ReadInt32();
        if (day < 0 || day > DateOnly.MaxValue.DayNumber)
            throw reader.Error(FormatError.OutOfRange, "The day does not fit a DateOnly");
        return DateOnly.FromDayNumber(day);
    }
}

internal sealed class TimeOnlyFormatter : ITangoFormatter<TimeOnly>
{
    public bool IsVersionKey => true;

    public void Write(ref MessagePackWriter writer, TimeOnly value) => writer.Write(value.Ticks);

    public TimeOnly Read(ref MessagePackReader reader)
    {
        long ticks = reader.ReadInt64();
        if (ticks < 0 || ticks > TimeOnly.MaxValue.Ticks)
            throw reader.Error(FormatError.OutOfRange, "The ticks do not fit a TimeOnly");
        return new TimeOnly(ticks);
    }
}
